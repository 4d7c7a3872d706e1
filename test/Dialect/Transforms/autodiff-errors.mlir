// Only an argument of floats can be differentiated by.
// RUN: tessera-opt %s -tessera-autodiff=grad-of=1 -split-input-file -verify-diagnostics

// expected-error @below {{'func.func' op has no argument 1 of floats to differentiate by}}
func.func @integer(%x: tensor<3xf32>, %i: tensor<3xi32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}

// -----

// expected-error @below {{'func.func' op has no argument 1 of floats to differentiate by}}
func.func @too_few(%x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
