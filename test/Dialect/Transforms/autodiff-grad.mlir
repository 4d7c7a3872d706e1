// Reverse mode: a scalar result has the cotangent one, others take theirs.
// RUN: tessera-opt %s -tessera-autodiff | FileCheck %s
// RUN: tessera-opt %s -tessera-autodiff=grad-of=1 | FileCheck %s --check-prefix=SECOND

// CHECK-LABEL: func.func @loss(
// CHECK-LABEL: func.func @loss_grad(
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>, %[[Y:.*]]: tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>, tensor<3xf32>)
// CHECK-NEXT: %[[P:.*]] = tessera.mul %[[X]], %[[Y]]
// CHECK-NEXT: %[[S:.*]] = tessera.reduce sum, %[[P]]
// CHECK-NEXT: %[[ONE:.*]] = tessera.constant 1.000000e+00 : f32 : tensor<f32>
// CHECK-NEXT: %[[CT:.*]] = tessera.broadcast %[[ONE]]
// CHECK-DAG: %[[DX:.*]] = tessera.mul %[[CT]], %[[Y]]
// CHECK-DAG: %[[DY:.*]] = tessera.mul %[[CT]], %[[X]]
// CHECK: return %[[S]], %[[DX]], %[[DY]]
// SECOND-LABEL: func.func @loss_grad(
// SECOND-SAME: -> (tensor<f32>, tensor<3xf32>)
func.func @loss(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<f32> {
  %0 = tessera.mul %x, %y : tensor<3xf32>
  %1 = tessera.reduce sum, %0 {dims = array<i64: 0>} : tensor<3xf32> -> tensor<f32>
  return %1 : tensor<f32>
}

// CHECK-LABEL: func.func @vector_grad(
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>, %[[Y:.*]]: tensor<3xf32>, %[[CT:.*]]: tensor<3xf32>)
// CHECK-SAME: -> (tensor<3xf32>, tensor<3xi1>, tensor<3xf32>, tensor<3xf32>)
// CHECK: %[[ZERO:.*]] = tessera.constant 0.000000e+00 : f32 : tensor<3xf32>
// CHECK: return %{{.*}}, %{{.*}}, %{{.*}}, %[[ZERO]]
func.func @vector(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xi1>) {
  %0 = tessera.exp %x : tensor<3xf32>
  %1 = tessera.compare lt, %x, %y : tensor<3xf32> -> tensor<3xi1>
  return %0, %1 : tensor<3xf32>, tensor<3xi1>
}

// A helper stays as it is.
// CHECK-NOT: @helper_grad
func.func private @helper(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
