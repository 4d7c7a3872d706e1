// A constant that folding has merged gets the place of its first user, and so does what only leads to such a user.
// RUN: tessera-opt %s -tessera-locate-constants -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func.func @f
func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK: tessera.constant 2.000000e+00 {{.*}} loc("train.cpp":7:3)
  %two = tessera.constant 2.0 : f32 : tensor<f32> loc(unknown)
  // CHECK: tessera.broadcast {{.*}} loc("train.cpp":7:3)
  %twos = tessera.broadcast %two {dims = array<i64>} : tensor<f32> -> tensor<3xf32> loc(unknown)
  // CHECK: tessera.exp {{.*}} loc("train.cpp":6:1)
  %0 = tessera.exp %x : tensor<3xf32> loc("train.cpp":6:1)
  %1 = tessera.mul %0, %twos : tensor<3xf32> loc("train.cpp":7:3)
  %2 = tessera.add %1, %twos : tensor<3xf32> loc("train.cpp":8:5)
  return %2 : tensor<3xf32>
}
