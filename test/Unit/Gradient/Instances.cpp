// Instances of every differentiable op: shapes of rank 0, without elements, views, operands used twice.
#include "test/Unit/Gradient/Instances.h"

// clang-format off
const char *const tessera::gradient::instances = R"mlir(
func.func @abs(%x: tensor<3x5xf64> {test.range = [-3.0, 3.0]}) -> tensor<3x5xf64> {
  %0 = tessera.abs %x : tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @abs_scalar(%x: tensor<f64> {test.range = [-3.0, 3.0]}) -> tensor<f64> {
  %0 = tessera.abs %x : tensor<f64>
  return %0 : tensor<f64>
}

func.func @exp(%x: tensor<3x5xf64> {test.range = [-2.0, 2.0]}) -> tensor<3x5xf64> {
  %0 = tessera.exp %x : tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @exp_scalar(%x: tensor<f64> {test.range = [-2.0, 2.0]}) -> tensor<f64> {
  %0 = tessera.exp %x : tensor<f64>
  return %0 : tensor<f64>
}

func.func @log(%x: tensor<3x5xf64> {test.range = [0.1, 4.0]}) -> tensor<3x5xf64> {
  %0 = tessera.log %x : tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @log_scalar(%x: tensor<f64> {test.range = [0.1, 4.0]}) -> tensor<f64> {
  %0 = tessera.log %x : tensor<f64>
  return %0 : tensor<f64>
}

func.func @sqrt(%x: tensor<3x5xf64> {test.range = [0.1, 4.0]}) -> tensor<3x5xf64> {
  %0 = tessera.sqrt %x : tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @sqrt_scalar(%x: tensor<f64> {test.range = [0.1, 4.0]}) -> tensor<f64> {
  %0 = tessera.sqrt %x : tensor<f64>
  return %0 : tensor<f64>
}

func.func @rsqrt(%x: tensor<3x5xf64> {test.range = [0.1, 4.0]}) -> tensor<3x5xf64> {
  %0 = tessera.rsqrt %x : tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @rsqrt_scalar(%x: tensor<f64> {test.range = [0.1, 4.0]}) -> tensor<f64> {
  %0 = tessera.rsqrt %x : tensor<f64>
  return %0 : tensor<f64>
}

func.func @tanh(%x: tensor<3x5xf64> {test.range = [-2.0, 2.0]}) -> tensor<3x5xf64> {
  %0 = tessera.tanh %x : tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @tanh_scalar(%x: tensor<f64> {test.range = [-2.0, 2.0]}) -> tensor<f64> {
  %0 = tessera.tanh %x : tensor<f64>
  return %0 : tensor<f64>
}

func.func @sin(%x: tensor<3x5xf64> {test.range = [-3.0, 3.0]}) -> tensor<3x5xf64> {
  %0 = tessera.sin %x : tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @sin_scalar(%x: tensor<f64> {test.range = [-3.0, 3.0]}) -> tensor<f64> {
  %0 = tessera.sin %x : tensor<f64>
  return %0 : tensor<f64>
}

func.func @cos(%x: tensor<3x5xf64> {test.range = [-3.0, 3.0]}) -> tensor<3x5xf64> {
  %0 = tessera.cos %x : tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @cos_scalar(%x: tensor<f64> {test.range = [-3.0, 3.0]}) -> tensor<f64> {
  %0 = tessera.cos %x : tensor<f64>
  return %0 : tensor<f64>
}

func.func @erf(%x: tensor<3x5xf64> {test.range = [-2.0, 2.0]}) -> tensor<3x5xf64> {
  %0 = tessera.erf %x : tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @erf_scalar(%x: tensor<f64> {test.range = [-2.0, 2.0]}) -> tensor<f64> {
  %0 = tessera.erf %x : tensor<f64>
  return %0 : tensor<f64>
}

func.func @neg(%x: tensor<3x5xf64> {test.range = [-3.0, 3.0]}) -> tensor<3x5xf64> {
  %0 = tessera.neg %x : tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @neg_scalar(%x: tensor<f64> {test.range = [-3.0, 3.0]}) -> tensor<f64> {
  %0 = tessera.neg %x : tensor<f64>
  return %0 : tensor<f64>
}

func.func @identity(%x: tensor<3x5xf64> {test.range = [-3.0, 3.0]}) -> tensor<3x5xf64> {
  %0 = tessera.identity %x : tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @identity_scalar(%x: tensor<f64> {test.range = [-3.0, 3.0]}) -> tensor<f64> {
  %0 = tessera.identity %x : tensor<f64>
  return %0 : tensor<f64>
}

func.func @add(%a: tensor<3x5xf64> {test.range = [0.5, 3.0]}, %b: tensor<3x5xf64> {test.range = [0.5, 3.0]}) -> tensor<3x5xf64> {
  %0 = tessera.add %a, %b : tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @sub(%a: tensor<3x5xf64> {test.range = [0.5, 3.0]}, %b: tensor<3x5xf64> {test.range = [0.5, 3.0]}) -> tensor<3x5xf64> {
  %0 = tessera.sub %a, %b : tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @mul(%a: tensor<3x5xf64> {test.range = [0.5, 3.0]}, %b: tensor<3x5xf64> {test.range = [0.5, 3.0]}) -> tensor<3x5xf64> {
  %0 = tessera.mul %a, %b : tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @div(%a: tensor<3x5xf64> {test.range = [0.5, 3.0]}, %b: tensor<3x5xf64> {test.range = [0.5, 3.0]}) -> tensor<3x5xf64> {
  %0 = tessera.div %a, %b : tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @max(%a: tensor<3x5xf64> {test.range = [0.5, 3.0]}, %b: tensor<3x5xf64> {test.range = [0.5, 3.0]}) -> tensor<3x5xf64> {
  %0 = tessera.max %a, %b : tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @min(%a: tensor<3x5xf64> {test.range = [0.5, 3.0]}, %b: tensor<3x5xf64> {test.range = [0.5, 3.0]}) -> tensor<3x5xf64> {
  %0 = tessera.min %a, %b : tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @add_same(%x: tensor<3x5xf64> {test.range = [0.5, 3.0]}) -> tensor<3x5xf64> {
  %0 = tessera.add %x, %x : tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @sub_same(%x: tensor<3x5xf64> {test.range = [0.5, 3.0]}) -> tensor<3x5xf64> {
  %0 = tessera.sub %x, %x : tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @mul_same(%x: tensor<3x5xf64> {test.range = [0.5, 3.0]}) -> tensor<3x5xf64> {
  %0 = tessera.mul %x, %x : tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @div_same(%x: tensor<3x5xf64> {test.range = [0.5, 3.0]}) -> tensor<3x5xf64> {
  %0 = tessera.div %x, %x : tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @pow(%a: tensor<3x5xf64> {test.range = [0.2, 3.0]}, %b: tensor<3x5xf64> {test.range = [-2.0, 2.0]}) -> tensor<3x5xf64> {
  %0 = tessera.pow %a, %b : tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @pow_same(%x: tensor<3x5xf64> {test.range = [0.2, 2.0]}) -> tensor<3x5xf64> {
  %0 = tessera.pow %x, %x : tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @pow_of_negative(%a: tensor<4xf64> {test.values = dense<[-2.0, -0.5, -1.5, -3.0]> : tensor<4xf64>}, %b: tensor<4xf64> {test.values = dense<[2.0, -1.0, 3.0, 0.0]> : tensor<4xf64>, test.fixed}) -> tensor<4xf64> {
  %0 = tessera.pow %a, %b : tensor<4xf64>
  return %0 : tensor<4xf64>
}

func.func @pow_at_zero(%a: tensor<3xf64> {test.values = dense<[0.0, 0.0, 0.0]> : tensor<3xf64>}, %b: tensor<3xf64> {test.values = dense<[1.0, 2.0, 3.0]> : tensor<3xf64>, test.fixed}) -> tensor<3xf64> {
  %0 = tessera.pow %a, %b : tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @pow_to_zero(%a: tensor<2xf64> {test.values = dense<[1.5, 0.5]> : tensor<2xf64>}, %b: tensor<2xf64> {test.values = dense<[0.0, 1.0]> : tensor<2xf64>}) -> tensor<2xf64> {
  %0 = tessera.pow %a, %b : tensor<2xf64>
  return %0 : tensor<2xf64>
}

func.func @pow_zero_to_zero(%a: tensor<2xf64> {test.values = dense<0.0> : tensor<2xf64>}, %b: tensor<2xf64> {test.values = dense<0.0> : tensor<2xf64>, test.fixed}) -> tensor<2xf64> {
  %0 = tessera.pow %a, %b : tensor<2xf64>
  return %0 : tensor<2xf64>
}

func.func @select(%p: tensor<3x5xi1>, %a: tensor<3x5xf64>, %b: tensor<3x5xf64>) -> tensor<3x5xf64> {
  %0 = tessera.select %p, %a, %b : tensor<3x5xi1>, tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @select_same(%p: tensor<3x5xi1>, %x: tensor<3x5xf64>) -> tensor<3x5xf64> {
  %0 = tessera.select %p, %x, %x : tensor<3x5xi1>, tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @convert_narrows(%x: tensor<3x5xf64> {test.range = [-3.0, 3.0]}) -> tensor<3x5xf32> attributes {test.step = 1.0 : f64, test.tolerance = 1.0e-5 : f64} {
  %0 = tessera.convert %x : tensor<3x5xf64> -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

func.func @convert_widens(%x: tensor<3x5xf32> {test.range = [-3.0, 3.0]}) -> tensor<3x5xf64> attributes {test.step = 1.0 : f64, test.tolerance = 1.0e-5 : f64} {
  %0 = tessera.convert %x : tensor<3x5xf32> -> tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

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

func.func @reduce_sum_rows(%x: tensor<3x5xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce sum, %x {dims = array<i64: 1>} : tensor<3x5xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_sum_columns(%x: tensor<5x3xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce sum, %x {dims = array<i64: 0>} : tensor<5x3xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_sum_all(%x: tensor<2x3x2xf64>) -> tensor<f64> {
  %0 = tessera.reduce sum, %x {dims = array<i64: 0, 1, 2>} : tensor<2x3x2xf64> -> tensor<f64>
  return %0 : tensor<f64>
}

func.func @reduce_sum_ends(%x: tensor<2x3x4xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce sum, %x {dims = array<i64: 0, 2>} : tensor<2x3x4xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_sum_one(%x: tensor<3x1xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce sum, %x {dims = array<i64: 1>} : tensor<3x1xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_sum_none(%x: tensor<3xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce sum, %x {dims = array<i64>} : tensor<3xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_sum_no_rows(%x: tensor<0x3xf64>) -> tensor<0xf64> {
  %0 = tessera.reduce sum, %x {dims = array<i64: 1>} : tensor<0x3xf64> -> tensor<0xf64>
  return %0 : tensor<0xf64>
}

func.func @reduce_prod_rows(%x: tensor<3x5xf64> {test.range = [0.5, 2.0]}) -> tensor<3xf64> {
  %0 = tessera.reduce prod, %x {dims = array<i64: 1>} : tensor<3x5xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_prod_columns(%x: tensor<5x3xf64> {test.range = [0.5, 2.0]}) -> tensor<3xf64> {
  %0 = tessera.reduce prod, %x {dims = array<i64: 0>} : tensor<5x3xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_prod_all(%x: tensor<2x3x2xf64> {test.range = [0.5, 2.0]}) -> tensor<f64> {
  %0 = tessera.reduce prod, %x {dims = array<i64: 0, 1, 2>} : tensor<2x3x2xf64> -> tensor<f64>
  return %0 : tensor<f64>
}

func.func @reduce_prod_ends(%x: tensor<2x3x4xf64> {test.range = [0.5, 2.0]}) -> tensor<3xf64> {
  %0 = tessera.reduce prod, %x {dims = array<i64: 0, 2>} : tensor<2x3x4xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_prod_one(%x: tensor<3x1xf64> {test.range = [0.5, 2.0]}) -> tensor<3xf64> {
  %0 = tessera.reduce prod, %x {dims = array<i64: 1>} : tensor<3x1xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_prod_none(%x: tensor<3xf64> {test.range = [0.5, 2.0]}) -> tensor<3xf64> {
  %0 = tessera.reduce prod, %x {dims = array<i64>} : tensor<3xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_prod_no_rows(%x: tensor<0x3xf64> {test.range = [0.5, 2.0]}) -> tensor<0xf64> {
  %0 = tessera.reduce prod, %x {dims = array<i64: 1>} : tensor<0x3xf64> -> tensor<0xf64>
  return %0 : tensor<0xf64>
}

func.func @reduce_max_rows(%x: tensor<3x5xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce max, %x {dims = array<i64: 1>} : tensor<3x5xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_max_columns(%x: tensor<5x3xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce max, %x {dims = array<i64: 0>} : tensor<5x3xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_max_all(%x: tensor<2x3x2xf64>) -> tensor<f64> {
  %0 = tessera.reduce max, %x {dims = array<i64: 0, 1, 2>} : tensor<2x3x2xf64> -> tensor<f64>
  return %0 : tensor<f64>
}

func.func @reduce_max_ends(%x: tensor<2x3x4xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce max, %x {dims = array<i64: 0, 2>} : tensor<2x3x4xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_max_one(%x: tensor<3x1xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce max, %x {dims = array<i64: 1>} : tensor<3x1xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_max_none(%x: tensor<3xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce max, %x {dims = array<i64>} : tensor<3xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_max_no_rows(%x: tensor<0x3xf64>) -> tensor<0xf64> {
  %0 = tessera.reduce max, %x {dims = array<i64: 1>} : tensor<0x3xf64> -> tensor<0xf64>
  return %0 : tensor<0xf64>
}

func.func @reduce_min_rows(%x: tensor<3x5xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce min, %x {dims = array<i64: 1>} : tensor<3x5xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_min_columns(%x: tensor<5x3xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce min, %x {dims = array<i64: 0>} : tensor<5x3xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_min_all(%x: tensor<2x3x2xf64>) -> tensor<f64> {
  %0 = tessera.reduce min, %x {dims = array<i64: 0, 1, 2>} : tensor<2x3x2xf64> -> tensor<f64>
  return %0 : tensor<f64>
}

func.func @reduce_min_ends(%x: tensor<2x3x4xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce min, %x {dims = array<i64: 0, 2>} : tensor<2x3x4xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_min_one(%x: tensor<3x1xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce min, %x {dims = array<i64: 1>} : tensor<3x1xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_min_none(%x: tensor<3xf64>) -> tensor<3xf64> {
  %0 = tessera.reduce min, %x {dims = array<i64>} : tensor<3xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_min_no_rows(%x: tensor<0x3xf64>) -> tensor<0xf64> {
  %0 = tessera.reduce min, %x {dims = array<i64: 1>} : tensor<0x3xf64> -> tensor<0xf64>
  return %0 : tensor<0xf64>
}

func.func @reduce_sum_of_nothing(%x: tensor<2x0xf64>) -> tensor<2xf64> {
  %0 = tessera.reduce sum, %x {dims = array<i64: 1>} : tensor<2x0xf64> -> tensor<2xf64>
  return %0 : tensor<2xf64>
}

func.func @reduce_prod_of_nothing(%x: tensor<2x0xf64>) -> tensor<2xf64> {
  %0 = tessera.reduce prod, %x {dims = array<i64: 1>} : tensor<2x0xf64> -> tensor<2xf64>
  return %0 : tensor<2xf64>
}

func.func @reduce_prod_zeros(%x: tensor<3x4xf64> {test.values = dense<[[0.0, 2.0, 3.0, 0.5], [1.0, 0.0, 0.0, 2.0], [1.0, 2.0, 3.0, 4.0]]> : tensor<3x4xf64>}) -> tensor<3xf64> {
  %0 = tessera.reduce prod, %x {dims = array<i64: 1>} : tensor<3x4xf64> -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @dot_matmul(%a: tensor<3x4xf64>, %b: tensor<4x2xf64>) -> tensor<3x2xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>} : (tensor<3x4xf64>, tensor<4x2xf64>) -> tensor<3x2xf64>
  return %0 : tensor<3x2xf64>
}

func.func @dot_transposed_a(%a: tensor<4x3xf64>, %b: tensor<4x2xf64>) -> tensor<3x2xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 0>, b_contract = array<i64: 0>} : (tensor<4x3xf64>, tensor<4x2xf64>) -> tensor<3x2xf64>
  return %0 : tensor<3x2xf64>
}

func.func @dot_transposed_b(%a: tensor<3x4xf64>, %b: tensor<2x4xf64>) -> tensor<3x2xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 1>} : (tensor<3x4xf64>, tensor<2x4xf64>) -> tensor<3x2xf64>
  return %0 : tensor<3x2xf64>
}

func.func @dot_batch(%a: tensor<2x3x4xf64>, %b: tensor<2x4x5xf64>) -> tensor<2x3x5xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64: 0>, b_batch = array<i64: 0>, a_contract = array<i64: 2>, b_contract = array<i64: 1>} : (tensor<2x3x4xf64>, tensor<2x4x5xf64>) -> tensor<2x3x5xf64>
  return %0 : tensor<2x3x5xf64>
}

func.func @dot_batch_last(%a: tensor<3x4x2xf64>, %b: tensor<4x5x2xf64>) -> tensor<2x3x5xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64: 2>, b_batch = array<i64: 2>, a_contract = array<i64: 1>, b_contract = array<i64: 0>} : (tensor<3x4x2xf64>, tensor<4x5x2xf64>) -> tensor<2x3x5xf64>
  return %0 : tensor<2x3x5xf64>
}

func.func @dot_two_batches(%a: tensor<2x3x4x5xf64>, %b: tensor<3x2x5x2xf64>) -> tensor<2x3x4x2xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64: 0, 1>, b_batch = array<i64: 1, 0>, a_contract = array<i64: 3>, b_contract = array<i64: 2>} : (tensor<2x3x4x5xf64>, tensor<3x2x5x2xf64>) -> tensor<2x3x4x2xf64>
  return %0 : tensor<2x3x4x2xf64>
}

func.func @dot_two_contracted(%a: tensor<5x3x4xf64>, %b: tensor<3x4x2xf64>) -> tensor<5x2xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1, 2>, b_contract = array<i64: 0, 1>} : (tensor<5x3x4xf64>, tensor<3x4x2xf64>) -> tensor<5x2xf64>
  return %0 : tensor<5x2xf64>
}

func.func @dot_crosswise(%a: tensor<5x3x4xf64>, %b: tensor<4x3x2xf64>) -> tensor<5x2xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1, 2>, b_contract = array<i64: 1, 0>} : (tensor<5x3x4xf64>, tensor<4x3x2xf64>) -> tensor<5x2xf64>
  return %0 : tensor<5x2xf64>
}

func.func @dot_contracted_backwards(%a: tensor<5x3x4xf64>, %b: tensor<3x4x2xf64>) -> tensor<5x2xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 2, 1>, b_contract = array<i64: 1, 0>} : (tensor<5x3x4xf64>, tensor<3x4x2xf64>) -> tensor<5x2xf64>
  return %0 : tensor<5x2xf64>
}

func.func @dot_two_free(%a: tensor<2x3x5xf64>, %b: tensor<5x4x2xf64>) -> tensor<2x3x4x2xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 2>, b_contract = array<i64: 0>} : (tensor<2x3x5xf64>, tensor<5x4x2xf64>) -> tensor<2x3x4x2xf64>
  return %0 : tensor<2x3x4x2xf64>
}

func.func @dot_free_apart(%a: tensor<2x5x3xf64>, %b: tensor<4x5x2xf64>) -> tensor<2x3x4x2xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 1>} : (tensor<2x5x3xf64>, tensor<4x5x2xf64>) -> tensor<2x3x4x2xf64>
  return %0 : tensor<2x3x4x2xf64>
}

func.func @dot_matvec(%a: tensor<3x4xf64>, %b: tensor<4xf64>) -> tensor<3xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>} : (tensor<3x4xf64>, tensor<4xf64>) -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @dot_vecmat(%a: tensor<4xf64>, %b: tensor<4x3xf64>) -> tensor<3xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 0>, b_contract = array<i64: 0>} : (tensor<4xf64>, tensor<4x3xf64>) -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @dot_vecdot(%a: tensor<4xf64>, %b: tensor<4xf64>) -> tensor<f64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 0>, b_contract = array<i64: 0>} : (tensor<4xf64>, tensor<4xf64>) -> tensor<f64>
  return %0 : tensor<f64>
}

func.func @dot_rowwise(%a: tensor<3x4xf64>, %b: tensor<3x4xf64>) -> tensor<3xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64: 0>, b_batch = array<i64: 0>, a_contract = array<i64: 1>, b_contract = array<i64: 1>} : (tensor<3x4xf64>, tensor<3x4xf64>) -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @dot_outer(%a: tensor<3xf64>, %b: tensor<4xf64>) -> tensor<3x4xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64>, b_contract = array<i64>} : (tensor<3xf64>, tensor<4xf64>) -> tensor<3x4xf64>
  return %0 : tensor<3x4xf64>
}

func.func @dot_scalars(%a: tensor<f64>, %b: tensor<f64>) -> tensor<f64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64>, b_contract = array<i64>} : (tensor<f64>, tensor<f64>) -> tensor<f64>
  return %0 : tensor<f64>
}

func.func @dot_no_terms(%a: tensor<3x0xf64>, %b: tensor<0x2xf64>) -> tensor<3x2xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>} : (tensor<3x0xf64>, tensor<0x2xf64>) -> tensor<3x2xf64>
  return %0 : tensor<3x2xf64>
}

func.func @dot_no_rows(%a: tensor<0x4xf64>, %b: tensor<4x2xf64>) -> tensor<0x2xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>} : (tensor<0x4xf64>, tensor<4x2xf64>) -> tensor<0x2xf64>
  return %0 : tensor<0x2xf64>
}

func.func @dot_same(%x: tensor<4x4xf64>) -> tensor<4x4xf64> {
  %0 = tessera.dot_general %x, %x {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>} : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
  return %0 : tensor<4x4xf64>
}

func.func @softmax_rows(%x: tensor<3x5xf64> {test.range = [-2.0, 2.0]}) -> tensor<3x5xf64> {
  %0 = tessera.softmax %x {dim = 1 : i64} : tensor<3x5xf64> -> tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @softmax_columns(%x: tensor<5x3xf64> {test.range = [-2.0, 2.0]}) -> tensor<5x3xf64> {
  %0 = tessera.softmax %x {dim = 0 : i64} : tensor<5x3xf64> -> tensor<5x3xf64>
  return %0 : tensor<5x3xf64>
}

func.func @softmax_middle(%x: tensor<2x3x4xf64> {test.range = [-2.0, 2.0]}) -> tensor<2x3x4xf64> {
  %0 = tessera.softmax %x {dim = 1 : i64} : tensor<2x3x4xf64> -> tensor<2x3x4xf64>
  return %0 : tensor<2x3x4xf64>
}

func.func @softmax_one(%x: tensor<3x1xf64> {test.range = [-2.0, 2.0]}) -> tensor<3x1xf64> {
  %0 = tessera.softmax %x {dim = 1 : i64} : tensor<3x1xf64> -> tensor<3x1xf64>
  return %0 : tensor<3x1xf64>
}

func.func @softmax_empty(%x: tensor<0x3xf64> {test.range = [-2.0, 2.0]}) -> tensor<0x3xf64> {
  %0 = tessera.softmax %x {dim = 1 : i64} : tensor<0x3xf64> -> tensor<0x3xf64>
  return %0 : tensor<0x3xf64>
}

func.func @softmax_of_nothing(%x: tensor<3x0xf64> {test.range = [-2.0, 2.0]}) -> tensor<3x0xf64> {
  %0 = tessera.softmax %x {dim = 1 : i64} : tensor<3x0xf64> -> tensor<3x0xf64>
  return %0 : tensor<3x0xf64>
}

func.func @log_softmax_rows(%x: tensor<3x5xf64> {test.range = [-2.0, 2.0]}) -> tensor<3x5xf64> {
  %0 = tessera.log_softmax %x {dim = 1 : i64} : tensor<3x5xf64> -> tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @log_softmax_columns(%x: tensor<5x3xf64> {test.range = [-2.0, 2.0]}) -> tensor<5x3xf64> {
  %0 = tessera.log_softmax %x {dim = 0 : i64} : tensor<5x3xf64> -> tensor<5x3xf64>
  return %0 : tensor<5x3xf64>
}

func.func @log_softmax_middle(%x: tensor<2x3x4xf64> {test.range = [-2.0, 2.0]}) -> tensor<2x3x4xf64> {
  %0 = tessera.log_softmax %x {dim = 1 : i64} : tensor<2x3x4xf64> -> tensor<2x3x4xf64>
  return %0 : tensor<2x3x4xf64>
}

func.func @log_softmax_one(%x: tensor<3x1xf64> {test.range = [-2.0, 2.0]}) -> tensor<3x1xf64> {
  %0 = tessera.log_softmax %x {dim = 1 : i64} : tensor<3x1xf64> -> tensor<3x1xf64>
  return %0 : tensor<3x1xf64>
}

func.func @log_softmax_empty(%x: tensor<0x3xf64> {test.range = [-2.0, 2.0]}) -> tensor<0x3xf64> {
  %0 = tessera.log_softmax %x {dim = 1 : i64} : tensor<0x3xf64> -> tensor<0x3xf64>
  return %0 : tensor<0x3xf64>
}

func.func @log_softmax_of_nothing(%x: tensor<3x0xf64> {test.range = [-2.0, 2.0]}) -> tensor<3x0xf64> {
  %0 = tessera.log_softmax %x {dim = 1 : i64} : tensor<3x0xf64> -> tensor<3x0xf64>
  return %0 : tensor<3x0xf64>
}

func.func @cross_entropy_rows(%x: tensor<4x5xf64> {test.range = [-2.0, 2.0]}, %l: tensor<4xi64> {test.range = [0, 4]}) -> tensor<4xf64> {
  %0 = tessera.cross_entropy %x, %l : tensor<4x5xf64>, tensor<4xi64> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

func.func @cross_entropy_narrow(%x: tensor<4x5xf64> {test.range = [-2.0, 2.0]}, %l: tensor<4xi32> {test.range = [0, 4]}) -> tensor<4xf64> {
  %0 = tessera.cross_entropy %x, %l : tensor<4x5xf64>, tensor<4xi32> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

func.func @cross_entropy_planes(%x: tensor<2x3x4xf64> {test.range = [-2.0, 2.0]}, %l: tensor<2x3xi64> {test.range = [0, 3]}) -> tensor<2x3xf64> {
  %0 = tessera.cross_entropy %x, %l : tensor<2x3x4xf64>, tensor<2x3xi64> -> tensor<2x3xf64>
  return %0 : tensor<2x3xf64>
}

func.func @cross_entropy_vector(%x: tensor<5xf64> {test.range = [-2.0, 2.0]}, %l: tensor<i64> {test.range = [0, 4]}) -> tensor<f64> {
  %0 = tessera.cross_entropy %x, %l : tensor<5xf64>, tensor<i64> -> tensor<f64>
  return %0 : tensor<f64>
}

func.func @cross_entropy_empty(%x: tensor<0x3xf64> {test.range = [-2.0, 2.0]}, %l: tensor<0xi64> {test.range = [0, 2]}) -> tensor<0xf64> {
  %0 = tessera.cross_entropy %x, %l : tensor<0x3xf64>, tensor<0xi64> -> tensor<0xf64>
  return %0 : tensor<0xf64>
}
)mlir";
