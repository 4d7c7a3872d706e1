// Reductions, products and composites print as they parse.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s --strict-whitespace

// CHECK-LABEL: @reductions
func.func @reductions(%x: tensor<2x3xf32>) {
  // CHECK-NEXT: = tessera.reduce sum, %arg0 {dims = array<i64: 0, 1>} : tensor<2x3xf32> -> tensor<f32>
  %0 = tessera.reduce sum, %x {dims = array<i64: 0, 1>} : tensor<2x3xf32> -> tensor<f32>
  // CHECK-NEXT: = tessera.reduce prod, %arg0 {dims = array<i64: 0>} : tensor<2x3xf32> -> tensor<3xf32>
  %1 = tessera.reduce prod, %x {dims = array<i64: 0>} : tensor<2x3xf32> -> tensor<3xf32>
  // CHECK-NEXT: = tessera.reduce max, %arg0 {dims = array<i64>} : tensor<2x3xf32> -> tensor<2x3xf32>
  %2 = tessera.reduce max, %x {dims = array<i64>} : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: = tessera.reduce min, %arg0 {dims = array<i64: 1>} : tensor<2x3xf32> -> tensor<2xf32>
  %3 = tessera.reduce min, %x {dims = array<i64: 1>} : tensor<2x3xf32> -> tensor<2xf32>
  // CHECK-NEXT: = tessera.reduce argmax, %arg0 {dims = array<i64: 1>} : tensor<2x3xf32> -> tensor<2xi64>
  %4 = tessera.reduce argmax, %x {dims = array<i64: 1>} : tensor<2x3xf32> -> tensor<2xi64>
  return
}

// CHECK-LABEL: @product
func.func @product(%a: tensor<5x2x3xf32>, %b: tensor<5x3x4xf32>) {
  // CHECK-NEXT: = tessera.dot_general %arg0, %arg1 {a_batch = array<i64: 0>, a_contract = array<i64: 2>, b_batch = array<i64: 0>, b_contract = array<i64: 1>} : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  %0 = tessera.dot_general %a, %b {a_batch = array<i64: 0>, b_batch = array<i64: 0>, a_contract = array<i64: 2>, b_contract = array<i64: 1>}
      : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  return
}

// CHECK-LABEL: @composites
func.func @composites(%x: tensor<2x3xf32>, %labels: tensor<2xi64>) {
  // CHECK-NEXT: = tessera.softmax %arg0 {dim = 1 : i64} : tensor<2x3xf32> -> tensor<2x3xf32>
  %0 = tessera.softmax %x {dim = 1 : i64} : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: = tessera.log_softmax %arg0 {dim = 0 : i64} : tensor<2x3xf32> -> tensor<2x3xf32>
  %1 = tessera.log_softmax %x {dim = 0 : i64} : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: = tessera.cross_entropy %arg0, %arg1 : tensor<2x3xf32>, tensor<2xi64> -> tensor<2xf32>
  %2 = tessera.cross_entropy %x, %labels : tensor<2x3xf32>, tensor<2xi64> -> tensor<2xf32>
  return
}
