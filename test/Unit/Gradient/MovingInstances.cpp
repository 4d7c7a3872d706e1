// Instances of the ops that move elements: of rank 0, without elements, with
// operands used twice.
#include "test/Unit/Gradient/Instances.h"

// clang-format off
const char *const tessera::gradient::movingInstances = R"mlir(
func.func @broadcast_scalar(%x: tensor<f64>) -> tensor<3x4xf64> {
  %0 = tessera.broadcast %x {dims = array<i64>} : tensor<f64> -> tensor<3x4xf64>
  return %0 : tensor<3x4xf64>
}

func.func @broadcast_rows(%x: tensor<4xf64>) -> tensor<3x4xf64> {
  %0 = tessera.broadcast %x {dims = array<i64: 1>} : tensor<4xf64> -> tensor<3x4xf64>
  return %0 : tensor<3x4xf64>
}

func.func @broadcast_columns(%x: tensor<3xf64>) -> tensor<3x4xf64> {
  %0 = tessera.broadcast %x {dims = array<i64: 0>} : tensor<3xf64> -> tensor<3x4xf64>
  return %0 : tensor<3x4xf64>
}

func.func @broadcast_unit(%x: tensor<3x1xf64>) -> tensor<3x2x4xf64> {
  %0 = tessera.broadcast %x {dims = array<i64: 0, 2>} : tensor<3x1xf64> -> tensor<3x2x4xf64>
  return %0 : tensor<3x2x4xf64>
}

func.func @broadcast_unit_to_unit(%x: tensor<1x4xf64>) -> tensor<1x4xf64> {
  %0 = tessera.broadcast %x {dims = array<i64: 0, 1>} : tensor<1x4xf64> -> tensor<1x4xf64>
  return %0 : tensor<1x4xf64>
}

func.func @broadcast_to_nothing(%x: tensor<1xf64>) -> tensor<0xf64> {
  %0 = tessera.broadcast %x {dims = array<i64: 0>} : tensor<1xf64> -> tensor<0xf64>
  return %0 : tensor<0xf64>
}

func.func @reshape(%x: tensor<4x6xf64>) -> tensor<3x8xf64> {
  %0 = tessera.reshape %x : tensor<4x6xf64> -> tensor<3x8xf64>
  return %0 : tensor<3x8xf64>
}

func.func @reshape_to_scalar(%x: tensor<1x1xf64>) -> tensor<f64> {
  %0 = tessera.reshape %x : tensor<1x1xf64> -> tensor<f64>
  return %0 : tensor<f64>
}

func.func @transpose(%x: tensor<2x3x4xf64>) -> tensor<4x2x3xf64> {
  %0 = tessera.transpose %x {permutation = array<i64: 2, 0, 1>} : tensor<2x3x4xf64> -> tensor<4x2x3xf64>
  return %0 : tensor<4x2x3xf64>
}

func.func @slice(%x: tensor<6x8xf64>) -> tensor<2x3xf64> {
  %0 = tessera.slice %x {starts = array<i64: 1, 0>, strides = array<i64: 2, 3>} : tensor<6x8xf64> -> tensor<2x3xf64>
  return %0 : tensor<2x3xf64>
}

func.func @slice_backwards(%x: tensor<6x8xf64>) -> tensor<3x4xf64> {
  %0 = tessera.slice %x {starts = array<i64: 5, 1>, strides = array<i64: -2, 1>} : tensor<6x8xf64> -> tensor<3x4xf64>
  return %0 : tensor<3x4xf64>
}

func.func @slice_one(%x: tensor<6x2xf64>) -> tensor<1x2xf64> {
  %0 = tessera.slice %x {starts = array<i64: 4, 0>, strides = array<i64: -3, 1>} : tensor<6x2xf64> -> tensor<1x2xf64>
  return %0 : tensor<1x2xf64>
}

func.func @slice_to_the_end(%x: tensor<6xf64>) -> tensor<6xf64> {
  %0 = tessera.slice %x {starts = array<i64: 5>, strides = array<i64: -1>} : tensor<6xf64> -> tensor<6xf64>
  return %0 : tensor<6xf64>
}

func.func @slice_nothing(%x: tensor<6x2xf64>) -> tensor<0x2xf64> {
  %0 = tessera.slice %x {starts = array<i64: 6, 0>, strides = array<i64: 1, 1>} : tensor<6x2xf64> -> tensor<0x2xf64>
  return %0 : tensor<0x2xf64>
}

func.func @slice_scalar(%x: tensor<f64>) -> tensor<f64> {
  %0 = tessera.slice %x {starts = array<i64>, strides = array<i64>} : tensor<f64> -> tensor<f64>
  return %0 : tensor<f64>
}

func.func @pad(%x: tensor<2x3xf64>, %v: tensor<f64>) -> tensor<6x8xf64> {
  %0 = tessera.pad %x, %v {low = array<i64: 1, 0>, high = array<i64: 2, 3>, interior = array<i64: 1, 1>} : tensor<2x3xf64>, tensor<f64> -> tensor<6x8xf64>
  return %0 : tensor<6x8xf64>
}

func.func @pad_rows(%x: tensor<2x3xf64>, %v: tensor<f64>) -> tensor<4x3xf64> {
  %0 = tessera.pad %x, %v {low = array<i64: 1, 0>, high = array<i64: 1, 0>, interior = array<i64: 0, 0>} : tensor<2x3xf64>, tensor<f64> -> tensor<4x3xf64>
  return %0 : tensor<4x3xf64>
}

func.func @pad_nothing(%x: tensor<0x3xf64>, %v: tensor<f64>) -> tensor<2x3xf64> {
  %0 = tessera.pad %x, %v {low = array<i64: 1, 0>, high = array<i64: 1, 0>, interior = array<i64: 2, 0>} : tensor<0x3xf64>, tensor<f64> -> tensor<2x3xf64>
  return %0 : tensor<2x3xf64>
}

func.func @pad_scalar(%x: tensor<f64>, %v: tensor<f64>) -> tensor<f64> {
  %0 = tessera.pad %x, %v {low = array<i64>, high = array<i64>, interior = array<i64>} : tensor<f64>, tensor<f64> -> tensor<f64>
  return %0 : tensor<f64>
}

func.func @pad_not_at_all(%x: tensor<2xf64>, %v: tensor<f64>) -> tensor<2xf64> {
  %0 = tessera.pad %x, %v {low = array<i64: 0>, high = array<i64: 0>, interior = array<i64: 0>} : tensor<2xf64>, tensor<f64> -> tensor<2xf64>
  return %0 : tensor<2xf64>
}

func.func @concat(%a: tensor<2x3xf64>, %b: tensor<2x1xf64>, %c: tensor<2x2xf64>) -> tensor<2x6xf64> {
  %0 = tessera.concat %a, %b, %c {dim = 1 : i64} : (tensor<2x3xf64>, tensor<2x1xf64>, tensor<2x2xf64>) -> tensor<2x6xf64>
  return %0 : tensor<2x6xf64>
}

func.func @concat_same(%a: tensor<2x3xf64>, %b: tensor<0x3xf64>) -> tensor<4x3xf64> {
  %0 = tessera.concat %a, %b, %a {dim = 0 : i64} : (tensor<2x3xf64>, tensor<0x3xf64>, tensor<2x3xf64>) -> tensor<4x3xf64>
  return %0 : tensor<4x3xf64>
}

func.func @dynamic_slice(%x: tensor<5x6xf64>, %i: tensor<i64> {test.range = [0, 2]}, %j: tensor<i64>) -> tensor<3x2xf64> {
  %0 = tessera.dynamic_slice %x[%i, %j] : tensor<5x6xf64>, tensor<i64>, tensor<i64> -> tensor<3x2xf64>
  return %0 : tensor<3x2xf64>
}

func.func @dynamic_slice_nothing(%x: tensor<5xf64>, %i: tensor<i64>) -> tensor<0xf64> {
  %0 = tessera.dynamic_slice %x[%i] : tensor<5xf64>, tensor<i64> -> tensor<0xf64>
  return %0 : tensor<0xf64>
}

func.func @dynamic_update_slice(%x: tensor<5x6xf64>, %u: tensor<3x2xf64>, %i: tensor<i64> {test.range = [0, 2]}, %j: tensor<i64>) -> tensor<5x6xf64> {
  %0 = tessera.dynamic_update_slice %x, %u[%i, %j] : tensor<5x6xf64>, tensor<3x2xf64>, tensor<i64>, tensor<i64> -> tensor<5x6xf64>
  return %0 : tensor<5x6xf64>
}

func.func @dynamic_update_slice_same(%x: tensor<4xf64>, %i: tensor<i64>) -> tensor<4xf64> {
  %0 = tessera.dynamic_update_slice %x, %x[%i] : tensor<4xf64>, tensor<4xf64>, tensor<i64> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}
)mlir";
