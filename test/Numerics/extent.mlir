// tessera.extent: the number of elements of a type; narrow integers wrap
// RUN: tessera-numerics %s

func.func @scalar() -> tensor<f32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.extent tensor<15x20xi1> : tensor<f32>
  return %0 : tensor<f32>
}

func.func @empty() -> tensor<3xf32> attributes {test.types = [f64, f16, bf16, i64]} {
  %0 = tessera.extent tensor<5x0xi1> : tensor<3xf32>
  return %0 : tensor<3xf32>
}

func.func @mean(%x: tensor<7x9xf32>) -> tensor<9xf32> attributes {test.types = [f64, f16, bf16]} {
  %n = tessera.extent tensor<7xi1> : tensor<9xf32>
  %0 = tessera.reduce sum, %x {dims = array<i64: 0>} : tensor<7x9xf32> -> tensor<9xf32>
  %1 = tessera.div %0, %n : tensor<9xf32>
  return %1 : tensor<9xf32>
}

func.func @values() -> (tensor<i32> {test.expect = dense<6> : tensor<i32>}) {
  %0 = tessera.extent tensor<2x3xi1> : tensor<i32>
  return %0 : tensor<i32>
}
