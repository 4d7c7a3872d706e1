// tessera.iota: the position along a dimension; narrow integers wrap
// RUN: tessera-numerics %s

func.func @vector() -> tensor<301xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.iota {dim = 0 : i64} : tensor<301xf32>
  return %0 : tensor<301xf32>
}

func.func @rows() -> tensor<5x7xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.iota {dim = 0 : i64} : tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

func.func @columns() -> tensor<5x7xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.iota {dim = 1 : i64} : tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

func.func @empty() -> tensor<0x3xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.iota {dim = 1 : i64} : tensor<0x3xf32>
  return %0 : tensor<0x3xf32>
}

func.func @values() -> (tensor<3xi32> {test.expect = dense<[0, 1, 2]> : tensor<3xi32>}) {
  %0 = tessera.iota {dim = 0 : i64} : tensor<3xi32>
  return %0 : tensor<3xi32>
}

func.func @read_crosswise(%x: tensor<4x6xf32>) -> tensor<6x4xi1> {
  %0 = tessera.iota {dim = 1 : i64} : tensor<4x6xf32>
  %1 = tessera.compare lt, %x, %0 : tensor<4x6xf32> -> tensor<4x6xi1>
  %2 = tessera.transpose %1 {permutation = array<i64: 1, 0>} : tensor<4x6xi1> -> tensor<6x4xi1>
  return %2 : tensor<6x4xi1>
}
