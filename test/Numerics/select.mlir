// tessera.select: moves bits, of NaN too
// RUN: tessera-numerics %s

func.func @odd(%p: tensor<7x19xi1>, %a: tensor<7x19xf32>, %b: tensor<7x19xf32>) -> tensor<7x19xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.select %p, %a, %b : tensor<7x19xi1>, tensor<7x19xf32>
  return %0 : tensor<7x19xf32>
}

func.func @long(%p: tensor<1037xi1>, %a: tensor<1037xf32>, %b: tensor<1037xf32>) -> tensor<1037xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.select %p, %a, %b : tensor<1037xi1>, tensor<1037xf32>
  return %0 : tensor<1037xf32>
}

func.func @scalar(%p: tensor<i1>, %a: tensor<f32>, %b: tensor<f32>) -> tensor<f32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.select %p, %a, %b : tensor<i1>, tensor<f32>
  return %0 : tensor<f32>
}

func.func @empty(%p: tensor<0x3xi1>, %a: tensor<0x3xf32>, %b: tensor<0x3xf32>) -> tensor<0x3xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.select %p, %a, %b : tensor<0x3xi1>, tensor<0x3xf32>
  return %0 : tensor<0x3xf32>
}

func.func @spread_predicate(%p: tensor<7xi1>, %a: tensor<7x5xf32>, %b: tensor<f32>) -> tensor<7x5xf32> {
  %0 = tessera.broadcast %p {dims = array<i64: 0>} : tensor<7xi1> -> tensor<7x5xi1>
  %1 = tessera.broadcast %b {dims = array<i64>} : tensor<f32> -> tensor<7x5xf32>
  %2 = tessera.select %0, %a, %1 : tensor<7x5xi1>, tensor<7x5xf32>
  return %2 : tensor<7x5xf32>
}
