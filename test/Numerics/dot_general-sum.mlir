// tessera.dot_general: without a free right dimension it is the sum of the rounded products
// RUN: tessera-numerics %s

func.func @matvec(%a: tensor<7x1100xf32>, %b: tensor<1100xf32>) -> tensor<7xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>}
      : (tensor<7x1100xf32>, tensor<1100xf32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

func.func @vecdot(%a: tensor<2309xf32>, %b: tensor<2309xf32>) -> tensor<f32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 0>, b_contract = array<i64: 0>}
      : (tensor<2309xf32>, tensor<2309xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

func.func @transposed(%a: tensor<35x7xf32>, %b: tensor<35xf32>) -> tensor<7xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 0>, b_contract = array<i64: 0>}
      : (tensor<35x7xf32>, tensor<35xf32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

func.func @batch(%a: tensor<3x5x40xf32>, %b: tensor<3x40xf32>) -> tensor<3x5xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64: 0>, b_batch = array<i64: 0>, a_contract = array<i64: 2>, b_contract = array<i64: 1>}
      : (tensor<3x5x40xf32>, tensor<3x40xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

func.func @rowwise(%a: tensor<6x40xf32>, %b: tensor<6x40xf32>) -> tensor<6xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64: 0>, b_batch = array<i64: 0>, a_contract = array<i64: 1>, b_contract = array<i64: 1>}
      : (tensor<6x40xf32>, tensor<6x40xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

func.func @two_contracted(%a: tensor<5x3x4xf32>, %b: tensor<4x3xf32>) -> tensor<5xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1, 2>, b_contract = array<i64: 1, 0>}
      : (tensor<5x3x4xf32>, tensor<4x3xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

func.func @scalars(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64>, b_contract = array<i64>}
      : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

func.func @no_terms(%a: tensor<5x0xf32>, %b: tensor<0xf32>) -> tensor<5xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>}
      : (tensor<5x0xf32>, tensor<0xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

func.func @rounded(
    %a: tensor<2xf32> {test.values = dense<[-1.00048828125, 1.000244140625]> : tensor<2xf32>},
    %b: tensor<2xf32> {test.values = dense<[1.0, 1.000244140625]> : tensor<2xf32>}) -> (tensor<f32> {test.expect = dense<0.0> : tensor<f32>}) {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 0>, b_contract = array<i64: 0>}
      : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
