// A kernel's region fits its operands and results
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @arguments(%x: tensor<2xf32>) {
  // expected-error @below {{'tessera.kernel' op has region arguments of other types than its inputs}}
  %0 = tessera.kernel loop(%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<3xf32>):
    %1 = tessera.constant 0.0 : f32 : tensor<2xf32>
    tessera.yield %1 : tensor<2xf32>
  }
  return
}

// -----

func.func @results(%x: tensor<2xf32>) {
  // expected-error @below {{'tessera.kernel' op yields other types than its results}}
  %0 = tessera.kernel loop(%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    tessera.yield %a, %a : tensor<2xf32>, tensor<2xf32>
  }
  return
}

// -----

func.func @outside(%x: tensor<2xf32>) {
  // expected-note @below {{required by region isolation constraints}}
  %0 = tessera.kernel loop() : () -> tensor<2xf32> {
    // expected-error @below {{'tessera.yield' op using value defined outside the region}}
    tessera.yield %x : tensor<2xf32>
  }
  return
}
