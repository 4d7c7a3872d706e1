// Narrow floats are computed with in f32: the tensor stage holds conversions, views are converted before they are
// viewed, and a conversion there and back is none.
// RUN: tessera-opt %s -tessera-to-tensor | FileCheck %s

// CHECK: %[[W:.*]] = tessera.convert %arg1 : tensor<4x3xbf16> -> tensor<4x3xf32>
// CHECK: %[[X:.*]] = tessera.convert %arg0 : tensor<2x3xbf16> -> tensor<2x3xf32>
// CHECK: %[[Y:.*]] = tessera.dot_general %[[X]], %[[W]] {{.*}}b_contract = array<i64: 1>
// CHECK: %[[R:.*]] = tessera.convert %[[Y]] : tensor<2x4xf32> -> tensor<2x4xbf16>
// CHECK: %[[A:.*]] = tessera.convert %[[R]] : tensor<2x4xbf16> -> tensor<2x4xf32>
// CHECK: %[[S:.*]] = tessera.add %[[A]], %[[A]] : tensor<2x4xf32>
// CHECK: tessera.convert %[[S]] : tensor<2x4xf32> -> tensor<2x4xbf16>
// CHECK: return {{.*}}, %arg0
func.func @main(%x: tensor<2x3xbf16>, %w: tensor<4x3xbf16>) -> (tensor<2x4xbf16>, tensor<2x3xbf16>) {
  %0 = tessera.transpose %w {permutation = array<i64: 1, 0>} : tensor<4x3xbf16> -> tensor<3x4xbf16>
  %1 = tessera.dot_general %x, %0 {a_batch = array<i64>, a_contract = array<i64: 1>, b_batch = array<i64>, b_contract = array<i64: 0>} : (tensor<2x3xbf16>, tensor<3x4xbf16>) -> tensor<2x4xbf16>
  %2 = tessera.add %1, %1 : tensor<2x4xbf16>
  %3 = tessera.convert %x : tensor<2x3xbf16> -> tensor<2x3xf32>
  %4 = tessera.convert %3 : tensor<2x3xf32> -> tensor<2x3xbf16>
  return %2, %4 : tensor<2x4xbf16>, tensor<2x3xbf16>
}
