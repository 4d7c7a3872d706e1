// Forward mode: tangents follow the arguments, and the results.
// RUN: tessera-opt %s -tessera-autodiff="mode=jvp grad-of=0" | FileCheck %s

// CHECK-LABEL: func.func @f_jvp(
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>, %[[Y:.*]]: tensor<3xf32>, %[[T:.*]]: tensor<3xf32>)
// CHECK-SAME: -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
// CHECK-NEXT: %[[E:.*]] = tessera.exp %[[X]]
// CHECK-NEXT: %[[TE:.*]] = tessera.mul %[[T]], %[[E]]
// CHECK-NEXT: %[[ZERO:.*]] = tessera.constant 0.000000e+00 : f32 : tensor<3xf32>
// CHECK-NEXT: return %[[E]], %[[Y]], %[[TE]], %[[ZERO]]
func.func @f(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = tessera.exp %x : tensor<3xf32>
  return %0, %y : tensor<3xf32>, tensor<3xf32>
}
