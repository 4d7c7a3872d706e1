// A bias and a relu join the product before them, and so does its scaled operand.
// RUN: tessera-opt %s -tessera-to-tensor -tessera-to-kernels | FileCheck %s
// RUN: tessera-opt %s -tessera-to-tensor -tessera-to-kernels=fuse=false | FileCheck %s --check-prefix=APART
// RUN: tessera-opt %s -tessera-to-tensor -tessera-to-kernels -tessera-to-plan | FileCheck %s --check-prefix=PLAN
// RUN: tessera-opt %s -tessera-to-tensor | tessera-opt -tessera-to-kernels | tessera-opt -tessera-to-plan | FileCheck %s --check-prefix=PLAN

// CHECK: tessera.kernel gemm
// CHECK: tessera.mul
// CHECK: tessera.dot_general
// CHECK: tessera.broadcast
// CHECK: tessera.add
// CHECK: tessera.max
// CHECK-NOT: tessera.kernel

// APART-COUNT-4: tessera.kernel
// APART-NOT: tessera.kernel

// PLAN: tessera.arena = 0
// PLAN: places = [#tessera.place<result, 0>]

func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %b: tensor<16xf32>) -> tensor<4x16xf32> {
  %0 = tessera.mul %x, %x : tensor<4x8xf32>
  %1 = tessera.dot_general %0, %w {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %2 = tessera.broadcast %b {dims = array<i64: 1>} : tensor<16xf32> -> tensor<4x16xf32>
  %3 = tessera.add %1, %2 : tensor<4x16xf32>
  %zero = tessera.constant 0.0 : f32 : tensor<4x16xf32>
  %4 = tessera.max %3, %zero : tensor<4x16xf32>
  return %4 : tensor<4x16xf32>
}
