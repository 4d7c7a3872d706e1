// transpose takes a permutation
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @count(%x: tensor<2x3xf32>) {
  // expected-error @below {{needs a permutation of all dimensions: f32[2,3] to f32[3,2]}}
  %0 = tessera.transpose %x {permutation = array<i64: 1>} : tensor<2x3xf32> -> tensor<3x2xf32>
  return
}

// -----

func.func @twice(%x: tensor<2x2xf32>) {
  // expected-error @below {{needs a permutation of all dimensions: f32[2,2] to f32[2,2]}}
  %0 = tessera.transpose %x {permutation = array<i64: 1, 1>} : tensor<2x2xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @shape(%x: tensor<2x3xf32>) {
  // expected-error @below {{has a result whose shape is not the permuted one: f32[2,3] to f32[2,3]}}
  %0 = tessera.transpose %x {permutation = array<i64: 1, 0>} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}
