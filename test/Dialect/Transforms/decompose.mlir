// Composites become primitives, composites of composites too; the location is the composite's.
// RUN: tessera-opt %s -tessera-decompose -mlir-print-debuginfo | FileCheck %s

// CHECK-LABEL: @softmax
func.func @softmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: %[[MAX:.*]] = tessera.reduce max, %arg0 {dims = array<i64: 1>} : tensor<2x3xf32> -> tensor<2xf32> loc(#[[LOC:loc[0-9]*]])
  // CHECK-NEXT: %[[WIDE:.*]] = tessera.broadcast %[[MAX]] {{.*}} loc(#[[LOC]])
  // CHECK-NEXT: %[[D:.*]] = tessera.sub %arg0, %[[WIDE]] {{.*}} loc(#[[LOC]])
  // CHECK-NEXT: %[[E:.*]] = tessera.exp %[[D]]
  // CHECK-NEXT: %[[SUM:.*]] = tessera.reduce sum, %[[E]]
  // CHECK-NEXT: %[[ONE:.*]] = tessera.constant 1.0
  // CHECK-NEXT: %[[SCALE:.*]] = tessera.div %[[ONE]], %[[SUM]]
  // CHECK-NEXT: %[[WIDE2:.*]] = tessera.broadcast %[[SCALE]]
  // CHECK-NEXT: %[[Y:.*]] = tessera.mul %[[E]], %[[WIDE2]]
  // CHECK-NEXT: return %[[Y]]
  %0 = tessera.softmax %x {dim = 1 : i64} : tensor<2x3xf32> -> tensor<2x3xf32> loc("model":3:4)
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: @cross_entropy
func.func @cross_entropy(%x: tensor<2x3xf32>, %labels: tensor<2xi64>) -> tensor<2xf32> {
  // CHECK-NOT: cross_entropy
  // CHECK-NOT: log_softmax
  // CHECK: tessera.log
  %0 = tessera.cross_entropy %x, %labels : tensor<2x3xf32>, tensor<2xi64> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: @empty
func.func @empty(%x: tensor<0x3xf32>) -> tensor<0x3xf32> {
  // CHECK-NEXT: return %arg0
  %0 = tessera.softmax %x {dim = 1 : i64} : tensor<0x3xf32> -> tensor<0x3xf32>
  return %0 : tensor<0x3xf32>
}
