// tessera.pad: before, after and between
// RUN: tessera-numerics %s

func.func @all(%x: tensor<3x5xf32>, %v: tensor<f32>) -> tensor<8x15xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.pad %x, %v {low = array<i64: 2, 1>, high = array<i64: 1, 5>, interior = array<i64: 1, 1>} : tensor<3x5xf32>, tensor<f32> -> tensor<8x15xf32>
  return %0 : tensor<8x15xf32>
}

func.func @rows(%x: tensor<3x20xf32>, %v: tensor<f32>) -> tensor<6x20xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.pad %x, %v {low = array<i64: 1, 0>, high = array<i64: 2, 0>, interior = array<i64: 0, 0>} : tensor<3x20xf32>, tensor<f32> -> tensor<6x20xf32>
  return %0 : tensor<6x20xf32>
}

func.func @columns(%x: tensor<5x3xf32>, %v: tensor<f32>) -> tensor<5x21xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.pad %x, %v {low = array<i64: 0, 9>, high = array<i64: 0, 9>, interior = array<i64: 0, 0>} : tensor<5x3xf32>, tensor<f32> -> tensor<5x21xf32>
  return %0 : tensor<5x21xf32>
}

func.func @scalar(%x: tensor<f32>, %v: tensor<f32>) -> tensor<f32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.pad %x, %v {low = array<i64>, high = array<i64>, interior = array<i64>} : tensor<f32>, tensor<f32> -> tensor<f32>
  return %0 : tensor<f32>
}

func.func @of_nothing(%x: tensor<0x3xf32>, %v: tensor<f32>) -> tensor<4x5xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.pad %x, %v {low = array<i64: 2, 1>, high = array<i64: 2, 1>, interior = array<i64: 3, 0>} : tensor<0x3xf32>, tensor<f32> -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}
