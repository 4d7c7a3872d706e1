// tessera.abs: of integers too; the least one wraps
// RUN: tessera-numerics %s

func.func @odd(%x: tensor<7x19xf32>) -> tensor<7x19xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.abs %x : tensor<7x19xf32>
  return %0 : tensor<7x19xf32>
}

func.func @long(%x: tensor<1037xf32>) -> tensor<1037xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.abs %x : tensor<1037xf32>
  return %0 : tensor<1037xf32>
}

func.func @scalar(%x: tensor<f32>) -> tensor<f32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.abs %x : tensor<f32>
  return %0 : tensor<f32>
}

func.func @empty(%x: tensor<3x0x2xf32>) -> tensor<3x0x2xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.abs %x : tensor<3x0x2xf32>
  return %0 : tensor<3x0x2xf32>
}

func.func @views(%x: tensor<9x5xf32>) -> tensor<5x4xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.transpose %x {permutation = array<i64: 1, 0>} : tensor<9x5xf32> -> tensor<5x9xf32>
  %1 = tessera.slice %0 {starts = array<i64: 0, 8>, strides = array<i64: 1, -2>} : tensor<5x9xf32> -> tensor<5x4xf32>
  %2 = tessera.abs %1 : tensor<5x4xf32>
  return %2 : tensor<5x4xf32>
}

func.func @values(
    %x: tensor<3xi8> {test.values = dense<[-128, -5, 7]> : tensor<3xi8>}) -> (tensor<3xi8> {test.expect = dense<[-128, 5, 7]> : tensor<3xi8>}) {
  %0 = tessera.abs %x : tensor<3xi8>
  return %0 : tensor<3xi8>
}
