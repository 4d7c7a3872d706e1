// reshape keeps the elements
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @count(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tessera.reshape' op changes the number of elements: f32[2,3] to f32[5]}}
  %0 = tessera.reshape %x : tensor<2x3xf32> -> tensor<5xf32>
  return
}

// -----

func.func @element(%x: tensor<2xf32>) {
  // expected-error @below {{changes the element type: f32[2] to i32[2]}}
  %0 = tessera.reshape %x : tensor<2xf32> -> tensor<2xi32>
  return
}
