// tessera.dynamic_slice: starts are moved inward
// RUN: tessera-numerics %s

func.func @matrix(%x: tensor<5x9xf32>, %i: tensor<i64> {test.range = [-4, 9]}, %j: tensor<i64>) -> tensor<3x4xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.dynamic_slice %x[%i, %j] : tensor<5x9xf32>, tensor<i64>, tensor<i64> -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

func.func @row(%x: tensor<7x19xf32>, %i: tensor<i64> {test.range = [-4, 9]}) -> tensor<1x19xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %z = tessera.constant 0 : i64 : tensor<i64>
  %0 = tessera.dynamic_slice %x[%i, %z] : tensor<7x19xf32>, tensor<i64>, tensor<i64> -> tensor<1x19xf32>
  return %0 : tensor<1x19xf32>
}

func.func @whole(%x: tensor<7xf32>, %i: tensor<i64> {test.range = [-4, 9]}) -> tensor<7xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.dynamic_slice %x[%i] : tensor<7xf32>, tensor<i64> -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

func.func @empty(%x: tensor<0xf32>, %i: tensor<i64>) -> tensor<0xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.dynamic_slice %x[%i] : tensor<0xf32>, tensor<i64> -> tensor<0xf32>
  return %0 : tensor<0xf32>
}

func.func @scalar(%x: tensor<f32>) -> tensor<f32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.dynamic_slice %x[] : tensor<f32> -> tensor<f32>
  return %0 : tensor<f32>
}
