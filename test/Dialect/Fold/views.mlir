// Views that change nothing fold away, and views of views merge.
// RUN: tessera-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: @trivial
func.func @trivial(%x: tensor<2x1xf32>) -> tensor<2x1xf32> {
  // CHECK-NEXT: return %arg0
  %0 = tessera.broadcast %x {dims = array<i64: 0, 1>} : tensor<2x1xf32> -> tensor<2x1xf32>
  %1 = tessera.reshape %0 : tensor<2x1xf32> -> tensor<2x1xf32>
  %2 = tessera.transpose %1 {permutation = array<i64: 0, 1>} : tensor<2x1xf32> -> tensor<2x1xf32>
  %3 = tessera.slice %2 {starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : tensor<2x1xf32> -> tensor<2x1xf32>
  %4 = tessera.identity %3 : tensor<2x1xf32>
  %5 = tessera.concat %4 {dim = 1 : i64} : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %6 = tessera.convert %5 : tensor<2x1xf32> -> tensor<2x1xf32>
  return %6 : tensor<2x1xf32>
}

// CHECK-LABEL: @no_padding
func.func @no_padding(%x: tensor<2xf32>, %v: tensor<f32>) -> tensor<2xf32> {
  // CHECK-NEXT: return %arg0
  %0 = tessera.pad %x, %v {low = array<i64: 0>, high = array<i64: 0>, interior = array<i64: 0>} : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: @backwards
func.func @backwards(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: tessera.slice
  %0 = tessera.slice %x {starts = array<i64: 1>, strides = array<i64: -1>} : tensor<2xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: @merge_broadcasts
func.func @merge_broadcasts(%x: tensor<3xf32>) -> tensor<2x3x4xf32> {
  // CHECK-NEXT: tessera.broadcast %arg0 {dims = array<i64: 1>} : tensor<3xf32> -> tensor<2x3x4xf32>
  // CHECK-NEXT: return
  %0 = tessera.broadcast %x {dims = array<i64: 0>} : tensor<3xf32> -> tensor<3x4xf32>
  %1 = tessera.broadcast %0 {dims = array<i64: 1, 2>} : tensor<3x4xf32> -> tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}

// CHECK-LABEL: @merge_reshapes
func.func @merge_reshapes(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
  // CHECK-NEXT: return %arg0
  %0 = tessera.reshape %x : tensor<2x6xf32> -> tensor<12xf32>
  %1 = tessera.reshape %0 : tensor<12xf32> -> tensor<2x6xf32>
  return %1 : tensor<2x6xf32>
}

// CHECK-LABEL: @merge_transposes
func.func @merge_transposes(%x: tensor<2x3x4xf32>) -> tensor<4x3x2xf32> {
  // CHECK-NEXT: tessera.transpose %arg0 {permutation = array<i64: 2, 1, 0>}
  // CHECK-NEXT: return
  %0 = tessera.transpose %x {permutation = array<i64: 1, 2, 0>} : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
  %1 = tessera.transpose %0 {permutation = array<i64: 1, 0, 2>} : tensor<3x4x2xf32> -> tensor<4x3x2xf32>
  return %1 : tensor<4x3x2xf32>
}
