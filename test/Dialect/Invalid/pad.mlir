// pad has a scalar value and amounts that add up
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @value(%x: tensor<2xf32>, %v: tensor<1xf32>) {
  // expected-error @below {{needs a scalar value, and low, high and interior for every dimension: f32[2] and f32[1] to f32[3]}}
  %0 = tessera.pad %x, %v {low = array<i64: 1>, high = array<i64: 0>, interior = array<i64: 0>} : tensor<2xf32>, tensor<1xf32> -> tensor<3xf32>
  return
}

// -----

func.func @negative(%x: tensor<2xf32>, %v: tensor<f32>) {
  // expected-error @below {{has a negative amount in dimension 0: f32[2] and f32[] to f32[1]}}
  %0 = tessera.pad %x, %v {low = array<i64: -1>, high = array<i64: 0>, interior = array<i64: 0>} : tensor<2xf32>, tensor<f32> -> tensor<1xf32>
  return
}

// -----

func.func @size(%x: tensor<2xf32>, %v: tensor<f32>) {
  // expected-error @below {{has a result of another size in dimension 0: f32[2] and f32[] to f32[3]}}
  %0 = tessera.pad %x, %v {low = array<i64: 0>, high = array<i64: 0>, interior = array<i64: 0>} : tensor<2xf32>, tensor<f32> -> tensor<3xf32>
  return
}

// -----

func.func @element(%x: tensor<2xf32>, %v: tensor<f64>) {
  // expected-error @below {{changes the element type: f32[2] and f64[] to f32[3]}}
  %0 = tessera.pad %x, %v {low = array<i64: 1>, high = array<i64: 0>, interior = array<i64: 0>} : tensor<2xf32>, tensor<f64> -> tensor<3xf32>
  return
}
