// convert keeps the shape
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @shape(%x: tensor<2xf32>) {
  // expected-error @below {{'tessera.convert' op changes the shape: f32[2] and i32[3]}}
  %0 = tessera.convert %x : tensor<2xf32> -> tensor<3xi32>
  return
}
