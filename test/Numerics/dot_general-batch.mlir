// tessera.dot_general: batch dimensions, and several of each kind
// RUN: tessera-numerics %s

func.func @batch(%a: tensor<3x5x7xf32>, %b: tensor<3x7x9xf32>) -> tensor<3x5x9xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64: 0>, b_batch = array<i64: 0>, a_contract = array<i64: 2>, b_contract = array<i64: 1>}
      : (tensor<3x5x7xf32>, tensor<3x7x9xf32>) -> tensor<3x5x9xf32>
  return %0 : tensor<3x5x9xf32>
}

func.func @batch_last(%a: tensor<5x7x3xf32>, %b: tensor<7x9x3xf32>) -> tensor<3x5x9xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64: 2>, b_batch = array<i64: 2>, a_contract = array<i64: 1>, b_contract = array<i64: 0>}
      : (tensor<5x7x3xf32>, tensor<7x9x3xf32>) -> tensor<3x5x9xf32>
  return %0 : tensor<3x5x9xf32>
}

func.func @two_batches(%a: tensor<2x3x5x7xf32>, %b: tensor<2x3x7x4xf32>) -> tensor<2x3x5x4xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64: 0, 1>, b_batch = array<i64: 0, 1>, a_contract = array<i64: 3>, b_contract = array<i64: 2>}
      : (tensor<2x3x5x7xf32>, tensor<2x3x7x4xf32>) -> tensor<2x3x5x4xf32>
  return %0 : tensor<2x3x5x4xf32>
}

func.func @two_contracted(%a: tensor<5x3x4xf32>, %b: tensor<3x4x6xf32>) -> tensor<5x6xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1, 2>, b_contract = array<i64: 0, 1>}
      : (tensor<5x3x4xf32>, tensor<3x4x6xf32>) -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

func.func @contracted_crosswise(%a: tensor<5x3x4xf32>, %b: tensor<4x3x6xf32>) -> tensor<5x6xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1, 2>, b_contract = array<i64: 1, 0>}
      : (tensor<5x3x4xf32>, tensor<4x3x6xf32>) -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

func.func @two_free(%a: tensor<2x3x5xf32>, %b: tensor<5x4x2xf32>) -> tensor<2x3x4x2xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 2>, b_contract = array<i64: 0>}
      : (tensor<2x3x5xf32>, tensor<5x4x2xf32>) -> tensor<2x3x4x2xf32>
  return %0 : tensor<2x3x4x2xf32>
}

func.func @free_apart(%a: tensor<2x5x3xf32>, %b: tensor<4x5x2xf32>) -> tensor<2x3x4x2xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 1>}
      : (tensor<2x5x3xf32>, tensor<4x5x2xf32>) -> tensor<2x3x4x2xf32>
  return %0 : tensor<2x3x4x2xf32>
}

func.func @no_batches(%a: tensor<0x5x7xf32>, %b: tensor<0x7x9xf32>) -> tensor<0x5x9xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64: 0>, b_batch = array<i64: 0>, a_contract = array<i64: 2>, b_contract = array<i64: 1>}
      : (tensor<0x5x7xf32>, tensor<0x7x9xf32>) -> tensor<0x5x9xf32>
  return %0 : tensor<0x5x9xf32>
}
