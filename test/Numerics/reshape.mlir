// tessera.reshape: the same elements in row-major order
// RUN: tessera-numerics %s

func.func @crossing(%x: tensor<6x35xf32>) -> tensor<14x15xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.reshape %x : tensor<6x35xf32> -> tensor<14x15xf32>
  return %0 : tensor<14x15xf32>
}

func.func @split(%x: tensor<4x6xf32>) -> tensor<2x2x3x2xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.reshape %x : tensor<4x6xf32> -> tensor<2x2x3x2xf32>
  return %0 : tensor<2x2x3x2xf32>
}

func.func @scalar(%x: tensor<1xf32>) -> tensor<f32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.reshape %x : tensor<1xf32> -> tensor<f32>
  return %0 : tensor<f32>
}

func.func @empty(%x: tensor<0x3xf32>) -> tensor<5x0xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.reshape %x : tensor<0x3xf32> -> tensor<5x0xf32>
  return %0 : tensor<5x0xf32>
}

func.func @of_transpose(%x: tensor<5x7xf32>) -> tensor<35xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.transpose %x {permutation = array<i64: 1, 0>} : tensor<5x7xf32> -> tensor<7x5xf32>
  %1 = tessera.reshape %0 : tensor<7x5xf32> -> tensor<35xf32>
  return %1 : tensor<35xf32>
}
