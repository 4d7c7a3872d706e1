// Each stage's pass takes a module that keeps the contract of the stage before, and says what does not belong there.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics -tessera-to-kernels

// expected-error @+1 {{a program takes and gives tensors of static shape, known dtype and at most 2^60 elements, and not 'tensor<4xi7>'}}
func.func @main(%x: tensor<4xi7>) {
  return
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{is a composite, which the tensor stage does not hold any more}}
  %0 = tessera.softmax %x {dim = 0 : i64} : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{does not belong into the tensor stage, which holds primitives alone}}
  %0 = tessera.kernel loop(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %1 = tessera.exp %a : tensor<4xf32>
    tessera.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
