// dot_general pairs dimensions of one size
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @pairs(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error @below {{[dot_general] batch and contracted dimensions do not pair up: f32[2,3] and f32[4,5]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64>} : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @inside(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error @below {{[dot_general] batch and contracted dimensions do not pair up: f32[2,3] and f32[4,5]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 2>, b_contract = array<i64: 0>} : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @twice(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error @below {{[dot_general] batch and contracted dimensions do not pair up: f32[2,3] and f32[4,5]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = tessera.dot_general %a, %b {a_batch = array<i64: 1>, b_batch = array<i64: 1>, a_contract = array<i64: 1>, b_contract = array<i64: 0>} : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @contracted(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error @below {{[dot_general] contracted dimensions differ: f32[2,3] and f32[4,5]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>} : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @batch(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error @below {{[dot_general] batch dimensions differ: f32[2,3] and f32[4,5]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = tessera.dot_general %a, %b {a_batch = array<i64: 0>, b_batch = array<i64: 0>, a_contract = array<i64>, b_contract = array<i64>} : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @elements(%a: tensor<2x3xf32>, %b: tensor<3x4xf64>) {
  // expected-error @below {{failed to verify that all of {a, b, y} have same element type}}
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x4xf64>) -> tensor<2x4xf32>
  return
}
