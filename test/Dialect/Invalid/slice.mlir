// slice reads inside its operand
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @count(%x: tensor<2x3xf32>) {
  // expected-error @below {{needs a start and a stride for every dimension: f32[2,3] to f32[2,3]}}
  %0 = tessera.slice %x {starts = array<i64: 0>, strides = array<i64: 1>} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @stride(%x: tensor<2xf32>) {
  // expected-error @below {{has a stride of 0: f32[2] to f32[2]}}
  %0 = tessera.slice %x {starts = array<i64: 0>, strides = array<i64: 0>} : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @past(%x: tensor<5xf32>) {
  // expected-error @below {{reads outside the operand in dimension 0: f32[5] to f32[3]}}
  %0 = tessera.slice %x {starts = array<i64: 1>, strides = array<i64: 2>} : tensor<5xf32> -> tensor<3xf32>
  return
}

// -----

func.func @before(%x: tensor<5xf32>) {
  // expected-error @below {{reads outside the operand in dimension 0: f32[5] to f32[3]}}
  %0 = tessera.slice %x {starts = array<i64: 1>, strides = array<i64: -1>} : tensor<5xf32> -> tensor<3xf32>
  return
}

// -----

func.func @overflow(%x: tensor<5xf32>) {
  // expected-error @below {{reads outside the operand in dimension 0: f32[5] to f32[3]}}
  %0 = tessera.slice %x {starts = array<i64: 0>, strides = array<i64: 9223372036854775807>} : tensor<5xf32> -> tensor<3xf32>
  return
}
