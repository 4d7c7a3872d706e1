// tessera.transpose: permutes dimensions
// RUN: tessera-numerics %s

func.func @matrix(%x: tensor<37x41xf32>) -> tensor<41x37xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.transpose %x {permutation = array<i64: 1, 0>} : tensor<37x41xf32> -> tensor<41x37xf32>
  return %0 : tensor<41x37xf32>
}

func.func @three(%x: tensor<3x5x7xf32>) -> tensor<7x3x5xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.transpose %x {permutation = array<i64: 2, 0, 1>} : tensor<3x5x7xf32> -> tensor<7x3x5xf32>
  return %0 : tensor<7x3x5xf32>
}

func.func @batch(%x: tensor<3x17x9xf32>) -> tensor<3x9x17xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.transpose %x {permutation = array<i64: 0, 2, 1>} : tensor<3x17x9xf32> -> tensor<3x9x17xf32>
  return %0 : tensor<3x9x17xf32>
}

func.func @scalar(%x: tensor<f32>) -> tensor<f32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.transpose %x {permutation = array<i64>} : tensor<f32> -> tensor<f32>
  return %0 : tensor<f32>
}

func.func @empty(%x: tensor<0x3xf32>) -> tensor<3x0xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.transpose %x {permutation = array<i64: 1, 0>} : tensor<0x3xf32> -> tensor<3x0xf32>
  return %0 : tensor<3x0xf32>
}
