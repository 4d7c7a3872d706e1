// tessera.broadcast: repeats along new and unit dimensions
// RUN: tessera-numerics %s

func.func @scalar(%x: tensor<f32>) -> tensor<3x7xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.broadcast %x {dims = array<i64>} : tensor<f32> -> tensor<3x7xf32>
  return %0 : tensor<3x7xf32>
}

func.func @rows(%x: tensor<7xf32>) -> tensor<5x7xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.broadcast %x {dims = array<i64: 1>} : tensor<7xf32> -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

func.func @columns(%x: tensor<7xf32>) -> tensor<7x19xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.broadcast %x {dims = array<i64: 0>} : tensor<7xf32> -> tensor<7x19xf32>
  return %0 : tensor<7x19xf32>
}

func.func @unit(%x: tensor<3x1xf32>) -> tensor<3x5x7xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.broadcast %x {dims = array<i64: 0, 2>} : tensor<3x1xf32> -> tensor<3x5x7xf32>
  return %0 : tensor<3x5x7xf32>
}

func.func @empty(%x: tensor<1xf32>) -> tensor<0xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.broadcast %x {dims = array<i64: 0>} : tensor<1xf32> -> tensor<0xf32>
  return %0 : tensor<0xf32>
}

func.func @into_sum(%x: tensor<5xf32>, %y: tensor<5xf32>) -> tensor<5x5xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.broadcast %x {dims = array<i64: 0>} : tensor<5xf32> -> tensor<5x5xf32>
  %1 = tessera.broadcast %y {dims = array<i64: 1>} : tensor<5xf32> -> tensor<5x5xf32>
  %2 = tessera.compare lt, %0, %1 : tensor<5x5xf32> -> tensor<5x5xi1>
  %3 = tessera.select %2, %0, %1 : tensor<5x5xi1>, tensor<5x5xf32>
  return %3 : tensor<5x5xf32>
}
