// Products with their epilogues, and operands behind views
// RUN: tessera-numerics %s

func.func @dense(%x: tensor<17x33xf32>, %w: tensor<33x9xf32>, %b: tensor<9xf32>) -> tensor<17x9xf32>
    attributes {test.types = [f64, f16, bf16, i32]} {
  %0 = tessera.dot_general %x, %w {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>}
      : (tensor<17x33xf32>, tensor<33x9xf32>) -> tensor<17x9xf32>
  %1 = tessera.broadcast %b {dims = array<i64: 1>} : tensor<9xf32> -> tensor<17x9xf32>
  %2 = tessera.add %0, %1 : tensor<17x9xf32>
  %z = tessera.constant 0.000000e+00 : f32 : tensor<17x9xf32>
  %3 = tessera.max %2, %z : tensor<17x9xf32>
  return %3 : tensor<17x9xf32>
}

func.func @weight_gradient(%x: tensor<17x33xf32>, %ct: tensor<17x9xf32>, %w: tensor<33x9xf32>) -> tensor<33x9xf32>
    attributes {test.types = [f64, f16, bf16]} {
  %0 = tessera.transpose %x {permutation = array<i64: 1, 0>} : tensor<17x33xf32> -> tensor<33x17xf32>
  %1 = tessera.dot_general %0, %ct {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>}
      : (tensor<33x17xf32>, tensor<17x9xf32>) -> tensor<33x9xf32>
  %2 = tessera.sub %w, %1 : tensor<33x9xf32>
  return %2 : tensor<33x9xf32>
}

func.func @scores(%q: tensor<2x3x5x8xf32>, %k: tensor<2x3x7x8xf32>) -> tensor<2x3x5x7xf32>
    attributes {test.types = [f64, f16, bf16]} {
  %0 = tessera.dot_general %q, %k {a_batch = array<i64: 0, 1>, b_batch = array<i64: 0, 1>, a_contract = array<i64: 3>, b_contract = array<i64: 3>}
      : (tensor<2x3x5x8xf32>, tensor<2x3x7x8xf32>) -> tensor<2x3x5x7xf32>
  %s = tessera.constant 5.000000e-01 : f32 : tensor<2x3x5x7xf32>
  %1 = tessera.mul %0, %s : tensor<2x3x5x7xf32>
  return %1 : tensor<2x3x5x7xf32>
}

func.func @same_operand(%x: tensor<12x12xf32>) -> tensor<12x12xf32> {
  %0 = tessera.dot_general %x, %x {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 1>}
      : (tensor<12x12xf32>, tensor<12x12xf32>) -> tensor<12x12xf32>
  return %0 : tensor<12x12xf32>
}

// Operands that are computed where they are packed, with the contracted dimension last and first.
func.func @computed_operands(%x: tensor<17x33xf32>, %y: tensor<33xf32>, %w: tensor<9x33xf32>) -> tensor<17x9xf32>
    attributes {test.types = [f64, f16, bf16, i32]} {
  %0 = tessera.broadcast %y {dims = array<i64: 1>} : tensor<33xf32> -> tensor<17x33xf32>
  %1 = tessera.mul %x, %0 : tensor<17x33xf32>
  %2 = tessera.sub %w, %w : tensor<9x33xf32>
  %3 = tessera.add %2, %w : tensor<9x33xf32>
  %4 = tessera.dot_general %1, %3 {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 1>}
      : (tensor<17x33xf32>, tensor<9x33xf32>) -> tensor<17x9xf32>
  return %4 : tensor<17x9xf32>
}

func.func @computed_operands_transposed(%x: tensor<33x17xf32>, %w: tensor<33x9xf32>) -> tensor<17x9xf32>
    attributes {test.types = [f64, f16, bf16]} {
  %1 = tessera.mul %x, %x : tensor<33x17xf32>
  %2 = tessera.neg %w : tensor<33x9xf32>
  %4 = tessera.dot_general %1, %2 {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 0>, b_contract = array<i64: 0>}
      : (tensor<33x17xf32>, tensor<33x9xf32>) -> tensor<17x9xf32>
  return %4 : tensor<17x9xf32>
}

// The mask of a batch of scores is applied to their weights, whose columns do not fill a vector.
func.func @computed_batch(%q: tensor<2x3x5x7xf32>, %m: tensor<5x7xf32>, %v: tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32> {
  %0 = tessera.broadcast %m {dims = array<i64: 2, 3>} : tensor<5x7xf32> -> tensor<2x3x5x7xf32>
  %1 = tessera.mul %q, %0 : tensor<2x3x5x7xf32>
  %2 = tessera.dot_general %1, %v {a_batch = array<i64: 0, 1>, b_batch = array<i64: 0, 1>, a_contract = array<i64: 3>, b_contract = array<i64: 2>}
      : (tensor<2x3x5x7xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  return %2 : tensor<2x3x5x6xf32>
}

func.func @computed_row(%x: tensor<1x700xf32>, %w: tensor<700x300xf32>) -> tensor<1x300xf32> {
  %0 = tessera.neg %x : tensor<1x700xf32>
  %1 = tessera.mul %w, %w : tensor<700x300xf32>
  %2 = tessera.dot_general %0, %1 {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>}
      : (tensor<1x700xf32>, tensor<700x300xf32>) -> tensor<1x300xf32>
  return %2 : tensor<1x300xf32>
}
