// A block is written into a tensor of the same type
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @type(%x: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<i64>) {
  // expected-error @below {{has a result of another type: f32[4] and f32[2] and i64[] to f32[5]}}
  %0 = tessera.dynamic_update_slice %x, %u[%i] : tensor<4xf32>, tensor<2xf32>, tensor<i64> -> tensor<5xf32>
  return
}

// -----

func.func @large(%x: tensor<4xf32>, %u: tensor<5xf32>, %i: tensor<i64>) {
  // expected-error @below {{has a block larger than the tensor in dimension 0: f32[4] and f32[5] and i64[] to f32[4]}}
  %0 = tessera.dynamic_update_slice %x, %u[%i] : tensor<4xf32>, tensor<5xf32>, tensor<i64> -> tensor<4xf32>
  return
}
