// Plans that would overwrite what they should not are refused.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @main(%x: tensor<8xf32>) -> tensor<4xf32> {
  // expected-error @below {{can overwrite only an input of its output's type}}
  %0 = tessera.kernel loop(%x) attributes {in_place = array<i64: 0>} : (tensor<8xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<8xf32>):
    %1 = tessera.slice %a {starts = array<i64: 0>, strides = array<i64: 1>} : tensor<8xf32> -> tensor<4xf32>
    tessera.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // expected-error @below {{overwrites an input twice}}
  %0:2 = tessera.kernel loop(%x) attributes {in_place = array<i64: 0, 0>} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%a: tensor<8xf32>):
    %1 = tessera.exp %a : tensor<8xf32>
    tessera.yield %1, %1 : tensor<8xf32>, tensor<8xf32>
  }
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}
