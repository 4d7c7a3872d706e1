// Programs of several ops: values that are used twice, that are results, that
// nothing depends on; a small network.
#include "test/Unit/Gradient/Instances.h"

// clang-format off
const char *const tessera::gradient::programs = R"mlir(
func.func @used_twice(%x: tensor<3xf64>) -> tensor<3xf64> {
  %0 = tessera.mul %x, %x : tensor<3xf64>
  %1 = tessera.mul %0, %0 : tensor<3xf64>
  %2 = tessera.add %1, %0 : tensor<3xf64>
  %3 = tessera.mul %2, %x : tensor<3xf64>
  return %3 : tensor<3xf64>
}

func.func @several_results(%x: tensor<3xf64>, %y: tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xi1>) {
  %0 = tessera.mul %x, %y : tensor<3xf64>
  %1 = tessera.sin %0 : tensor<3xf64>
  %2 = tessera.compare lt, %x, %y : tensor<3xf64> -> tensor<3xi1>
  return %1, %0, %x, %2 : tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xi1>
}

func.func @one_result_twice(%x: tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>) {
  %0 = tessera.mul %x, %x : tensor<3xf64>
  return %0, %0 : tensor<3xf64>, tensor<3xf64>
}

func.func @no_dependence(%x: tensor<3xf64>, %y: tensor<3xf64>) -> tensor<3xf64> {
  %0 = tessera.exp %y : tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @constant_result(%x: tensor<3xf64>) -> tensor<2xf64> {
  %0 = tessera.constant 2.0 : f64 : tensor<2xf64>
  return %0 : tensor<2xf64>
}

func.func @position_of_maximum(%x: tensor<3x5xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce argmax, %x {dims = array<i64: 1>} : tensor<3x5xf64> -> tensor<3xi64>
  %1 = tessera.convert %0 : tensor<3xi64> -> tensor<3xf64>
  %2 = tessera.reduce sum, %x {dims = array<i64: 1>} : tensor<3x5xf64> -> tensor<3xf64>
  %3 = tessera.mul %1, %2 : tensor<3xf64>
  return %3 : tensor<3xf64>
}

func.func @layer_norm(%x: tensor<4x6xf64>, %scale: tensor<6xf64>, %shift: tensor<6xf64>) -> tensor<4x6xf64> {
  %n = tessera.constant 6.0 : f64 : tensor<4xf64>
  %0 = tessera.reduce sum, %x {dims = array<i64: 1>} : tensor<4x6xf64> -> tensor<4xf64>
  %1 = tessera.div %0, %n : tensor<4xf64>
  %2 = tessera.broadcast %1 {dims = array<i64: 0>} : tensor<4xf64> -> tensor<4x6xf64>
  %3 = tessera.sub %x, %2 : tensor<4x6xf64>
  %4 = tessera.mul %3, %3 : tensor<4x6xf64>
  %5 = tessera.reduce sum, %4 {dims = array<i64: 1>} : tensor<4x6xf64> -> tensor<4xf64>
  %6 = tessera.div %5, %n : tensor<4xf64>
  %7 = tessera.rsqrt %6 : tensor<4xf64>
  %8 = tessera.broadcast %7 {dims = array<i64: 0>} : tensor<4xf64> -> tensor<4x6xf64>
  %9 = tessera.mul %3, %8 : tensor<4x6xf64>
  %10 = tessera.broadcast %scale {dims = array<i64: 1>} : tensor<6xf64> -> tensor<4x6xf64>
  %11 = tessera.mul %9, %10 : tensor<4x6xf64>
  %12 = tessera.broadcast %shift {dims = array<i64: 1>} : tensor<6xf64> -> tensor<4x6xf64>
  %13 = tessera.add %11, %12 : tensor<4x6xf64>
  return %13 : tensor<4x6xf64>
}

func.func @network(%x: tensor<4x5xf64>, %w: tensor<5x6xf64>, %b: tensor<6xf64>, %v: tensor<6x3xf64>,
                   %labels: tensor<4xi64> {test.range = [0, 2]}) -> tensor<f64> attributes {test.tolerance = 1.0e-5 : f64} {
  %0 = tessera.dot_general %x, %w {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>}
      : (tensor<4x5xf64>, tensor<5x6xf64>) -> tensor<4x6xf64>
  %1 = tessera.broadcast %b {dims = array<i64: 1>} : tensor<6xf64> -> tensor<4x6xf64>
  %2 = tessera.add %0, %1 : tensor<4x6xf64>
  %3 = tessera.tanh %2 : tensor<4x6xf64>
  %4 = tessera.dot_general %3, %v {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>}
      : (tensor<4x6xf64>, tensor<6x3xf64>) -> tensor<4x3xf64>
  %5 = tessera.cross_entropy %4, %labels : tensor<4x3xf64>, tensor<4xi64> -> tensor<4xf64>
  %6 = tessera.reduce sum, %5 {dims = array<i64: 0>} : tensor<4xf64> -> tensor<f64>
  return %6 : tensor<f64>
}

func.func @attention(%q: tensor<2x3x4xf64> {test.range = [-1.0, 1.0]}, %k: tensor<2x5x4xf64> {test.range = [-1.0, 1.0]},
                     %v: tensor<2x5x4xf64> {test.range = [-1.0, 1.0]}) -> tensor<2x3x4xf64> {
  %0 = tessera.dot_general %q, %k {a_batch = array<i64: 0>, b_batch = array<i64: 0>, a_contract = array<i64: 2>, b_contract = array<i64: 2>}
      : (tensor<2x3x4xf64>, tensor<2x5x4xf64>) -> tensor<2x3x5xf64>
  %1 = tessera.softmax %0 {dim = 2 : i64} : tensor<2x3x5xf64> -> tensor<2x3x5xf64>
  %2 = tessera.dot_general %1, %v {a_batch = array<i64: 0>, b_batch = array<i64: 0>, a_contract = array<i64: 2>, b_contract = array<i64: 1>}
      : (tensor<2x3x5xf64>, tensor<2x5x4xf64>) -> tensor<2x3x4xf64>
  return %2 : tensor<2x3x4xf64>
}
)mlir";
