// What is constant for derivatives stays marked, and what is random or an input is not dropped or shared wrongly.
// RUN: tessera-opt %s -canonicalize -cse | FileCheck %s

// CHECK-LABEL: @marked
func.func @marked(%x: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK-NEXT: tessera.stop_gradient
  %0 = tessera.stop_gradient %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: @inputs
func.func @inputs() -> (tensor<3xf32>, tensor<3xf32>) {
  // CHECK-NEXT: %[[A:.*]] = tessera.input
  // CHECK-NEXT: %[[B:.*]] = tessera.input
  // CHECK-NEXT: return %[[A]], %[[B]]
  %0 = tessera.input : tensor<3xf32>
  %1 = tessera.input : tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}
