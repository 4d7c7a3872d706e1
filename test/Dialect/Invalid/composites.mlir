// Composites name a dimension, or labels that fit
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @softmax(%x: tensor<2xf32>) {
  // expected-error @below {{[softmax] has no dimension 1: f32[2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = tessera.softmax %x {dim = 1 : i64} : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @log_softmax(%x: tensor<2xf32>) {
  // expected-error @below {{[log_softmax] has no dimension -1: f32[2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = tessera.log_softmax %x {dim = -1 : i64} : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @cross_entropy(%x: tensor<2x3xf32>, %l: tensor<3xi64>) {
  // expected-error @below {{[cross_entropy] labels need the logits' shape without the last dimension: f32[2,3] and i64[3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = tessera.cross_entropy %x, %l : tensor<2x3xf32>, tensor<3xi64> -> tensor<3xf32>
  return
}

// -----

func.func @scalar(%x: tensor<f32>, %l: tensor<i64>) {
  // expected-error @below {{[cross_entropy] labels need the logits' shape without the last dimension: f32[] and i64[]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = tessera.cross_entropy %x, %l : tensor<f32>, tensor<i64> -> tensor<f32>
  return
}
