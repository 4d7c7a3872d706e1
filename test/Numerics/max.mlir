// tessera.max: NaN wins, and +0 is greater than -0
// RUN: tessera-numerics %s

func.func @odd(%a: tensor<7x19xf32>, %b: tensor<7x19xf32>) -> tensor<7x19xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.max %a, %b : tensor<7x19xf32>
  return %0 : tensor<7x19xf32>
}

func.func @long(%a: tensor<1037xf32>, %b: tensor<1037xf32>) -> tensor<1037xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.max %a, %b : tensor<1037xf32>
  return %0 : tensor<1037xf32>
}

func.func @scalar(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.max %a, %b : tensor<f32>
  return %0 : tensor<f32>
}

func.func @empty(%a: tensor<3x0x2xf32>, %b: tensor<3x0x2xf32>) -> tensor<3x0x2xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.max %a, %b : tensor<3x0x2xf32>
  return %0 : tensor<3x0x2xf32>
}

func.func @views(%a: tensor<9x5xf32>, %b: tensor<5xf32>) -> tensor<5x9xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.transpose %a {permutation = array<i64: 1, 0>} : tensor<9x5xf32> -> tensor<5x9xf32>
  %1 = tessera.broadcast %b {dims = array<i64: 0>} : tensor<5xf32> -> tensor<5x9xf32>
  %2 = tessera.max %0, %1 : tensor<5x9xf32>
  return %2 : tensor<5x9xf32>
}

func.func @values(
    %a: tensor<5xf32> {test.values = dense<[-0.0, 0.0, 1.0, 0x7FC00000, 2.0]> : tensor<5xf32>},
    %b: tensor<5xf32> {test.values = dense<[0.0, -0.0, 2.0, 1.0, 0xFFC00000]> : tensor<5xf32>}) -> (tensor<5xf32> {test.expect = dense<[0.0, 0.0, 2.0, 0x7FC00000, 0x7FC00000]> : tensor<5xf32>}) {
  %0 = tessera.max %a, %b : tensor<5xf32>
  return %0 : tensor<5xf32>
}

// With a constant, of either sign of zero too, on either side.
func.func @constants(%x: tensor<3x77xf32>) -> (tensor<3x77xf32>, tensor<3x77xf32>, tensor<3x77xf32>, tensor<3x77xf32>)
    attributes {test.types = [f64, f16, bf16]} {
  %zero = tessera.constant 0.0 : f32 : tensor<3x77xf32>
  %minus_zero = tessera.constant -0.0 : f32 : tensor<3x77xf32>
  %number = tessera.constant 0.5 : f32 : tensor<3x77xf32>
  %nan = tessera.constant 0x7FC00000 : f32 : tensor<3x77xf32>
  %0 = tessera.max %x, %zero : tensor<3x77xf32>
  %1 = tessera.max %minus_zero, %x : tensor<3x77xf32>
  %2 = tessera.max %x, %number : tensor<3x77xf32>
  %3 = tessera.max %x, %nan : tensor<3x77xf32>
  return %0, %1, %2, %3 : tensor<3x77xf32>, tensor<3x77xf32>, tensor<3x77xf32>, tensor<3x77xf32>
}
