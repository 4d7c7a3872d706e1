// What is overwritten: an update takes the bytes of the donated weights and moments, and a chain of kernels stays in its
// result's buffer.
// RUN: tessera-opt %s -split-input-file -tessera-to-tensor -tessera-to-kernels=fuse=false -tessera-to-plan | FileCheck %s

// The gradient's square is the last to read %g, but %g is not donated; of %v and %w each gives its bytes to the result
// that is computed from it, or after its last use.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[W:.*]]: tensor<8xf32> {tessera.donate}
// CHECK-SAME: -> (tensor<8xf32> {tessera.alias = 0 : i64}, tensor<8xf32> {tessera.alias = 2 : i64})
// CHECK: kernel loop({{.*}}) attributes {places = [#tessera.place<arena, 0>]}
// CHECK: kernel loop({{.*}}) attributes {in_place = array<i64: 1>, places = [#tessera.place<result, 1>]}
// CHECK: kernel loop({{.*}}) attributes {in_place = array<i64: 0>, places = [#tessera.place<result, 0>]}
func.func @main(%w: tensor<8xf32> {tessera.donate}, %g: tensor<8xf32>, %v: tensor<8xf32> {tessera.donate})
    -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = tessera.mul %g, %g : tensor<8xf32>
  %1 = tessera.add %0, %v : tensor<8xf32>
  %2 = tessera.sub %w, %1 : tensor<8xf32>
  return %2, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @main
// CHECK: kernel loop{{.*}}{places = [#tessera.place<result, 0>]}
// CHECK: kernel loop{{.*}}{in_place = array<i64: 0>, places = [#tessera.place<result, 0>]}
// CHECK: kernel loop{{.*}}{in_place = array<i64: 0>, places = [#tessera.place<result, 0>]}
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = tessera.exp %x : tensor<8xf32>
  %1 = tessera.sin %0 : tensor<8xf32>
  %2 = tessera.cos %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// A transpose reads elsewhere than it writes; an argument whose bytes were read before gives them to a later result.
// CHECK-LABEL: func.func @main
// CHECK-SAME: -> (tensor<4x4xf32>, tensor<4x4xf32> {tessera.alias = 0 : i64})
// CHECK-NOT: in_place
func.func @main(%x: tensor<4x4xf32> {tessera.donate}, %y: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = tessera.transpose %x {permutation = array<i64: 1, 0>} : tensor<4x4xf32> -> tensor<4x4xf32>
  %1 = tessera.exp %y : tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}
