// Kernel regions print as they parse.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s --strict-whitespace

// CHECK-LABEL: @kernels
func.func @kernels(%x: tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2x3xf32>) {
  // CHECK-NEXT: %0:2 = tessera.kernel row_reduce(%arg0) attributes {reasons = ["because"]} : (tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2x3xf32>) {
  // CHECK-NEXT: ^bb0(%arg1: tensor<2x3xf32>):
  // CHECK-NEXT:   %2 = tessera.neg %arg1 : tensor<2x3xf32>
  // CHECK-NEXT:   %3 = tessera.reduce sum, %2 {dims = array<i64: 1>} : tensor<2x3xf32> -> tensor<2xf32>
  // CHECK-NEXT:   tessera.yield %3, %2 : tensor<2xf32>, tensor<2x3xf32>
  // CHECK-NEXT: }
  %0:2 = tessera.kernel row_reduce(%x) attributes {reasons = ["because"]} : (tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2x3xf32>) {
  ^bb0(%a: tensor<2x3xf32>):
    %1 = tessera.neg %a : tensor<2x3xf32>
    %2 = tessera.reduce sum, %1 {dims = array<i64: 1>} : tensor<2x3xf32> -> tensor<2xf32>
    tessera.yield %2, %1 : tensor<2xf32>, tensor<2x3xf32>
  }
  // CHECK-NEXT: %1 = tessera.kernel loop() : () -> tensor<i32> {
  %3 = tessera.kernel loop() : () -> tensor<i32> {
    %c = tessera.constant 1 : i32 : tensor<i32>
    tessera.yield %c : tensor<i32>
  }
  return %0#0, %0#1 : tensor<2xf32>, tensor<2x3xf32>
}
