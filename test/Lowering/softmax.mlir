// Softmax is one pass over its rows: all of its decomposition is one kernel.
// RUN: tessera-opt %s -tessera-to-tensor -tessera-to-kernels | FileCheck %s

// CHECK: tessera.kernel row_reduce
// CHECK: tessera.reduce max
// CHECK: tessera.exp
// CHECK: tessera.reduce sum
// CHECK: tessera.div
// CHECK-NOT: tessera.kernel
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = tessera.softmax %x {dim = 1 : i64} : tensor<4x8xf32> -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
