// A block has a scalar start for every dimension and fits
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @count(%x: tensor<4x4xf32>, %i: tensor<i64>) {
  // expected-error @below {{needs a start for every dimension: f32[4,4] and i64[] to f32[2,2]}}
  %0 = tessera.dynamic_slice %x[%i] : tensor<4x4xf32>, tensor<i64> -> tensor<2x2xf32>
  return
}

// -----

func.func @large(%x: tensor<4xf32>, %i: tensor<i64>) {
  // expected-error @below {{has a block larger than the tensor in dimension 0: f32[4] and i64[] to f32[5]}}
  %0 = tessera.dynamic_slice %x[%i] : tensor<4xf32>, tensor<i64> -> tensor<5xf32>
  return
}

// -----

func.func @scalar(%x: tensor<4xf32>, %i: tensor<1xi64>) {
  // expected-error @below {{has a start that is not a scalar: f32[4] and i64[1] to f32[2]}}
  %0 = tessera.dynamic_slice %x[%i] : tensor<4xf32>, tensor<1xi64> -> tensor<2xf32>
  return
}

// -----

func.func @element(%x: tensor<4xf32>, %i: tensor<i64>) {
  // expected-error @below {{changes the element type: f32[4] and i64[] to f64[2]}}
  %0 = tessera.dynamic_slice %x[%i] : tensor<4xf32>, tensor<i64> -> tensor<2xf64>
  return
}
