// select has a predicate for each element
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @shape(%p: tensor<i1>, %a: tensor<2xf32>) {
  // expected-error @below {{'tessera.select' op has a predicate of another shape: bool[] and f32[2]}}
  %0 = tessera.select %p, %a, %a : tensor<i1>, tensor<2xf32>
  return
}
