// tessera.mul: rounds once; integers wrap
// RUN: tessera-numerics %s

func.func @odd(%a: tensor<7x19xf32>, %b: tensor<7x19xf32>) -> tensor<7x19xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.mul %a, %b : tensor<7x19xf32>
  return %0 : tensor<7x19xf32>
}

func.func @long(%a: tensor<1037xf32>, %b: tensor<1037xf32>) -> tensor<1037xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.mul %a, %b : tensor<1037xf32>
  return %0 : tensor<1037xf32>
}

func.func @scalar(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.mul %a, %b : tensor<f32>
  return %0 : tensor<f32>
}

func.func @empty(%a: tensor<3x0x2xf32>, %b: tensor<3x0x2xf32>) -> tensor<3x0x2xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.mul %a, %b : tensor<3x0x2xf32>
  return %0 : tensor<3x0x2xf32>
}

func.func @views(%a: tensor<9x5xf32>, %b: tensor<5xf32>) -> tensor<5x9xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.transpose %a {permutation = array<i64: 1, 0>} : tensor<9x5xf32> -> tensor<5x9xf32>
  %1 = tessera.broadcast %b {dims = array<i64: 0>} : tensor<5xf32> -> tensor<5x9xf32>
  %2 = tessera.mul %0, %1 : tensor<5x9xf32>
  return %2 : tensor<5x9xf32>
}
