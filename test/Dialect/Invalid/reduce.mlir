// reduce takes increasing dimensions and something to reduce
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @dims(%x: tensor<2x3xf32>) {
  // expected-error @below {{[sum] dimensions must increase inside f32[2,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = tessera.reduce sum, %x {dims = array<i64: 1, 0>} : tensor<2x3xf32> -> tensor<f32>
  return
}

// -----

func.func @inside(%x: tensor<2x3xf32>) {
  // expected-error @below {{[sum] dimensions must increase inside f32[2,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = tessera.reduce sum, %x {dims = array<i64: 2>} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @empty(%x: tensor<2x0xf32>) {
  // expected-error @below {{[max] has no value over no elements: f32[2,0]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = tessera.reduce max, %x {dims = array<i64: 1>} : tensor<2x0xf32> -> tensor<2xf32>
  return
}

// -----

func.func @result(%x: tensor<2x3xf32>) {
  // expected-error @below {{inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %0 = tessera.reduce sum, %x {dims = array<i64: 1>} : tensor<2x3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @position(%x: tensor<2x3xf32>) {
  // expected-error @below {{inferred type(s) 'tensor<2xi64>' are incompatible with return type(s) of operation 'tensor<2xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %0 = tessera.reduce argmax, %x {dims = array<i64: 1>} : tensor<2x3xf32> -> tensor<2xf32>
  return
}
