// tessera.stop_gradient: a copy
// RUN: tessera-numerics %s

func.func @odd(%x: tensor<7x19xf32>) -> tensor<7x19xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.stop_gradient %x : tensor<7x19xf32>
  return %0 : tensor<7x19xf32>
}

func.func @scalar(%x: tensor<f32>) -> tensor<f32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.stop_gradient %x : tensor<f32>
  return %0 : tensor<f32>
}

func.func @empty(%x: tensor<0xf32>) -> tensor<0xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.stop_gradient %x : tensor<0xf32>
  return %0 : tensor<0xf32>
}
