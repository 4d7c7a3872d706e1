// A view of a constant is the constant in another shape.
// RUN: tessera-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: @views
func.func @views() -> (tensor<2x3xf32>, tensor<6xf32>, tensor<3x2xf32>, tensor<1x3xf32>) {
  // CHECK-DAG: %[[A:.*]] = tessera.constant 2.000000e+00 : f32 : tensor<2x3xf32>
  // CHECK-DAG: %[[B:.*]] = tessera.constant 2.000000e+00 : f32 : tensor<6xf32>
  // CHECK-DAG: %[[C:.*]] = tessera.constant 2.000000e+00 : f32 : tensor<3x2xf32>
  // CHECK-DAG: %[[D:.*]] = tessera.constant 2.000000e+00 : f32 : tensor<1x3xf32>
  // CHECK: return %[[A]], %[[B]], %[[C]], %[[D]]
  %0 = tessera.constant 2.0 : f32 : tensor<3xf32>
  %1 = tessera.broadcast %0 {dims = array<i64: 1>} : tensor<3xf32> -> tensor<2x3xf32>
  %2 = tessera.reshape %1 : tensor<2x3xf32> -> tensor<6xf32>
  %3 = tessera.transpose %1 {permutation = array<i64: 1, 0>} : tensor<2x3xf32> -> tensor<3x2xf32>
  %4 = tessera.slice %1 {starts = array<i64: 1, 2>, strides = array<i64: 1, -1>} : tensor<2x3xf32> -> tensor<1x3xf32>
  return %1, %2, %3, %4 : tensor<2x3xf32>, tensor<6xf32>, tensor<3x2xf32>, tensor<1x3xf32>
}
