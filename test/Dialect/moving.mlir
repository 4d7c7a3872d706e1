// Ops that move elements print as they parse.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s --match-full-lines --strict-whitespace

//      CHECK:  func.func @views(%arg0: tensor<2x3xf32>) {
func.func @views(%x: tensor<2x3xf32>) {
  // CHECK-NEXT:    %0 = tessera.broadcast %arg0 {dims = array<i64: 1, 2>} : tensor<2x3xf32> -> tensor<4x2x3xf32>
  %0 = tessera.broadcast %x {dims = array<i64: 1, 2>} : tensor<2x3xf32> -> tensor<4x2x3xf32>
  // CHECK-NEXT:    %1 = tessera.reshape %arg0 : tensor<2x3xf32> -> tensor<6xf32>
  %1 = tessera.reshape %x : tensor<2x3xf32> -> tensor<6xf32>
  // CHECK-NEXT:    %2 = tessera.transpose %arg0 {permutation = array<i64: 1, 0>} : tensor<2x3xf32> -> tensor<3x2xf32>
  %2 = tessera.transpose %x {permutation = array<i64: 1, 0>} : tensor<2x3xf32> -> tensor<3x2xf32>
  // CHECK-NEXT:    %3 = tessera.slice %arg0 {starts = array<i64: 1, 2>, strides = array<i64: 1, -2>} : tensor<2x3xf32> -> tensor<1x2xf32>
  %3 = tessera.slice %x {starts = array<i64: 1, 2>, strides = array<i64: 1, -2>} : tensor<2x3xf32> -> tensor<1x2xf32>
  // CHECK-NEXT:    %4 = tessera.identity %arg0 : tensor<2x3xf32>
  %4 = tessera.identity %x : tensor<2x3xf32>
  // CHECK-NEXT:    %5 = tessera.stop_gradient %arg0 : tensor<2x3xf32>
  %5 = tessera.stop_gradient %x : tensor<2x3xf32>
  return
}

//      CHECK:  func.func @joins(%arg0: tensor<2xf32>, %arg1: tensor<f32>) {
func.func @joins(%x: tensor<2xf32>, %v: tensor<f32>) {
  // CHECK-NEXT:    %0 = tessera.pad %arg0, %arg1 {high = array<i64: 0>, interior = array<i64: 1>, low = array<i64: 1>} : tensor<2xf32>, tensor<f32> -> tensor<4xf32>
  %0 = tessera.pad %x, %v {low = array<i64: 1>, high = array<i64: 0>, interior = array<i64: 1>} : tensor<2xf32>, tensor<f32> -> tensor<4xf32>
  // CHECK-NEXT:    %1 = tessera.concat %arg0, %arg0 {dim = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %1 = tessera.concat %x, %x {dim = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return
}

//      CHECK:  func.func @blocks(%arg0: tensor<4x4xi8>, %arg1: tensor<2x1xi8>, %arg2: tensor<i64>, %arg3: tensor<i8>) {
func.func @blocks(%x: tensor<4x4xi8>, %u: tensor<2x1xi8>, %i: tensor<i64>, %s: tensor<i8>) {
  // CHECK-NEXT:    %0 = tessera.dynamic_slice %arg0[%arg2, %arg2] : tensor<4x4xi8>, tensor<i64>, tensor<i64> -> tensor<2x1xi8>
  %0 = tessera.dynamic_slice %x[%i, %i] : tensor<4x4xi8>, tensor<i64>, tensor<i64> -> tensor<2x1xi8>
  // CHECK-NEXT:    %1 = tessera.dynamic_update_slice %arg0, %arg1[%arg2, %arg2] : tensor<4x4xi8>, tensor<2x1xi8>, tensor<i64>, tensor<i64> -> tensor<4x4xi8>
  %1 = tessera.dynamic_update_slice %x, %u[%i, %i] : tensor<4x4xi8>, tensor<2x1xi8>, tensor<i64>, tensor<i64> -> tensor<4x4xi8>
  // CHECK-NEXT:    %2 = tessera.dynamic_slice %arg3[] : tensor<i8> -> tensor<i8>
  %2 = tessera.dynamic_slice %s[] : tensor<i8> -> tensor<i8>
  // CHECK-NEXT:    %3 = tessera.dynamic_update_slice %arg3, %arg3[] : tensor<i8>, tensor<i8> -> tensor<i8>
  %3 = tessera.dynamic_update_slice %s, %s[] : tensor<i8>, tensor<i8> -> tensor<i8>
  return
}
