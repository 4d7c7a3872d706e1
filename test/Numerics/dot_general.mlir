// tessera.dot_general: chains of fused multiply-adds over chunks of k
// RUN: tessera-numerics %s

func.func @matmul(%a: tensor<7x19xf32>, %b: tensor<19x13xf32>) -> tensor<7x13xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>}
      : (tensor<7x19xf32>, tensor<19x13xf32>) -> tensor<7x13xf32>
  return %0 : tensor<7x13xf32>
}

func.func @chunks(%a: tensor<3x1200xf32>, %b: tensor<1200x5xf32>) -> tensor<3x5xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>}
      : (tensor<3x1200xf32>, tensor<1200x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

func.func @transposed_a(%a: tensor<19x7xf32>, %b: tensor<19x13xf32>) -> tensor<7x13xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 0>, b_contract = array<i64: 0>}
      : (tensor<19x7xf32>, tensor<19x13xf32>) -> tensor<7x13xf32>
  return %0 : tensor<7x13xf32>
}

func.func @transposed_b(%a: tensor<7x19xf32>, %b: tensor<13x19xf32>) -> tensor<7x13xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 1>}
      : (tensor<7x19xf32>, tensor<13x19xf32>) -> tensor<7x13xf32>
  return %0 : tensor<7x13xf32>
}

func.func @one_column(%a: tensor<7x19xf32>, %b: tensor<19x1xf32>) -> tensor<7x1xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>}
      : (tensor<7x19xf32>, tensor<19x1xf32>) -> tensor<7x1xf32>
  return %0 : tensor<7x1xf32>
}

func.func @row_times_matrix(%a: tensor<19xf32>, %b: tensor<19x13xf32>) -> tensor<13xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 0>, b_contract = array<i64: 0>}
      : (tensor<19xf32>, tensor<19x13xf32>) -> tensor<13xf32>
  return %0 : tensor<13xf32>
}

func.func @outer(%a: tensor<5xf32>, %b: tensor<7xf32>) -> tensor<5x7xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64>, b_contract = array<i64>}
      : (tensor<5xf32>, tensor<7xf32>) -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

func.func @no_rows(%a: tensor<0x3xf32>, %b: tensor<3x4xf32>) -> tensor<0x4xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>}
      : (tensor<0x3xf32>, tensor<3x4xf32>) -> tensor<0x4xf32>
  return %0 : tensor<0x4xf32>
}

func.func @no_terms(%a: tensor<5x0xf32>, %b: tensor<0x4xf32>) -> tensor<5x4xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>}
      : (tensor<5x0xf32>, tensor<0x4xf32>) -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

func.func @fused(
    %a: tensor<1x2xf32> {test.values = dense<[[-1.00048828125, 1.000244140625]]> : tensor<1x2xf32>},
    %b: tensor<2x2xf32> {test.values = dense<[[1.0, 1.0], [1.000244140625, 0.0]]> : tensor<2x2xf32>}) -> (tensor<1x2xf32> {test.expect = dense<[[5.96046448e-8, -1.00048828125]]> : tensor<1x2xf32>}) {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>}
      : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
