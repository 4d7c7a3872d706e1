// A reduction over no dimension is its operand; the position of a maximum is not.
// RUN: tessera-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: @sum
func.func @sum(%x: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK-NEXT: return %arg0
  %0 = tessera.reduce sum, %x {dims = array<i64>} : tensor<3xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: @argmax
func.func @argmax(%x: tensor<3xi64>) -> tensor<3xi64> {
  // CHECK-NEXT: tessera.reduce argmax
  %0 = tessera.reduce argmax, %x {dims = array<i64>} : tensor<3xi64> -> tensor<3xi64>
  return %0 : tensor<3xi64>
}
