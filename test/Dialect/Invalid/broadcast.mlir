// broadcast stretches unit dimensions only
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @count(%x: tensor<2x3xf32>) {
  // expected-error @below {{'tessera.broadcast' op needs one result dimension for each operand dimension: f32[2,3] to f32[2,3]}}
  %0 = tessera.broadcast %x {dims = array<i64: 0>} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @order(%x: tensor<2x3xf32>) {
  // expected-error @below {{has dimensions that do not increase inside the result: f32[2,3] to f32[3,2]}}
  %0 = tessera.broadcast %x {dims = array<i64: 1, 0>} : tensor<2x3xf32> -> tensor<3x2xf32>
  return
}

// -----

func.func @inside(%x: tensor<2xf32>) {
  // expected-error @below {{has dimensions that do not increase inside the result: f32[2] to f32[2]}}
  %0 = tessera.broadcast %x {dims = array<i64: 1>} : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @stretch(%x: tensor<2xf32>) {
  // expected-error @below {{cannot stretch a dimension whose size is not 1: f32[2] to f32[4]}}
  %0 = tessera.broadcast %x {dims = array<i64: 0>} : tensor<2xf32> -> tensor<4xf32>
  return
}

// -----

func.func @element(%x: tensor<2xf32>) {
  // expected-error @below {{changes the element type: f32[2] to f64[2]}}
  %0 = tessera.broadcast %x {dims = array<i64: 0>} : tensor<2xf32> -> tensor<2xf64>
  return
}
