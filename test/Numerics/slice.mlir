// tessera.slice: strided, backwards too
// RUN: tessera-numerics %s

func.func @strided(%x: tensor<9x20xf32>) -> tensor<5x6xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.slice %x {starts = array<i64: 2, 1>, strides = array<i64: 1, 3>} : tensor<9x20xf32> -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

func.func @backwards(%x: tensor<9x20xf32>) -> tensor<5x20xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.slice %x {starts = array<i64: 8, 19>, strides = array<i64: -2, -1>} : tensor<9x20xf32> -> tensor<5x20xf32>
  return %0 : tensor<5x20xf32>
}

func.func @window(%x: tensor<40xf32>) -> tensor<17xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.slice %x {starts = array<i64: 3>, strides = array<i64: 1>} : tensor<40xf32> -> tensor<17xf32>
  return %0 : tensor<17xf32>
}

func.func @one_row(%x: tensor<9x3xf32>) -> tensor<1x3xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.slice %x {starts = array<i64: 4, 0>, strides = array<i64: 7, 1>} : tensor<9x3xf32> -> tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}

func.func @empty(%x: tensor<9xf32>) -> tensor<0xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.slice %x {starts = array<i64: 9>, strides = array<i64: 1>} : tensor<9xf32> -> tensor<0xf32>
  return %0 : tensor<0xf32>
}

func.func @scalar(%x: tensor<f32>) -> tensor<f32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.slice %x {starts = array<i64>, strides = array<i64>} : tensor<f32> -> tensor<f32>
  return %0 : tensor<f32>
}

func.func @of_slice(%x: tensor<30xf32>) -> tensor<4xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.slice %x {starts = array<i64: 29>, strides = array<i64: -2>} : tensor<30xf32> -> tensor<15xf32>
  %1 = tessera.slice %0 {starts = array<i64: 1>, strides = array<i64: 4>} : tensor<15xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
