// compare gives a bool for each element
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @shape(%a: tensor<2xf32>) {
  // expected-error @below {{'tessera.compare' op has a result of another shape: f32[2] and bool[3]}}
  %0 = tessera.compare lt, %a, %a : tensor<2xf32> -> tensor<3xi1>
  return
}

// -----

func.func @word(%a: tensor<2xf32>) {
  // expected-error @below {{expected ::tessera::ir::Comparison to be one of: eq, ne, lt, le, gt, ge}}
  // expected-error @below {{failed to parse Tessera_ComparisonAttr}}
  %0 = tessera.compare less, %a, %a : tensor<2xf32> -> tensor<2xi1>
  return
}
