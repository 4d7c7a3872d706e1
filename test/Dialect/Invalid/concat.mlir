// concat joins tensors that agree elsewhere
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @nothing() {
  // expected-error @below {{needs at least one operand: f32[2]}}
  %0 = tessera.concat {dim = 0 : i64} : () -> tensor<2xf32>
  return
}

// -----

func.func @dim(%a: tensor<2xf32>) {
  // expected-error @below {{has no such dimension: f32[2] to f32[2]}}
  %0 = tessera.concat %a {dim = 1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @rank(%a: tensor<2xf32>, %b: tensor<f32>) {
  // expected-error @below {{has operands of different ranks: f32[2] and f32[] to f32[3]}}
  %0 = tessera.concat %a, %b {dim = 0 : i64} : (tensor<2xf32>, tensor<f32>) -> tensor<3xf32>
  return
}

// -----

func.func @shape(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) {
  // expected-error @below {{has operands that differ in dimension 1: f32[2,3] and f32[2,4] to f32[4,3]}}
  %0 = tessera.concat %a, %b {dim = 0 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @size(%a: tensor<2xf32>) {
  // expected-error @below {{has a result of another size: f32[2] and f32[2] to f32[5]}}
  %0 = tessera.concat %a, %a {dim = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<5xf32>
  return
}
