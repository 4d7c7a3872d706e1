// iota, constant and random_bits
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @iota() {
  // expected-error @below {{has no such dimension: i32[2]}}
  %0 = tessera.iota {dim = 1 : i64} : tensor<2xi32>
  return
}

// -----

func.func @constant() {
  // expected-error @below {{has a value of another element type: f32[2]}}
  %0 = tessera.constant 1 : i32 : tensor<2xf32>
  return
}

// -----

func.func @key(%key: tensor<3xi32>) {
  // expected-error @below {{needs a key of two words: i32[3] to i32[4]}}
  %0 = tessera.random_bits %key : tensor<3xi32> -> tensor<4xi32>
  return
}
