// Instances of elementwise ops: of rank 0, without elements, with operands used
// twice.
#include "test/Unit/Gradient/Instances.h"

// clang-format off
const char *const tessera::gradient::elementwiseInstances = R"mlir(
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
)mlir";
