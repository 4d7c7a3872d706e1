// Ops that make elements print as they parse.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

// CHECK-LABEL: @generators
func.func @generators(%key: tensor<2xi32>) {
  // CHECK-NEXT: tessera.iota {dim = 1 : i64} : tensor<2x3xi32>
  %0 = tessera.iota {dim = 1 : i64} : tensor<2x3xi32>
  // CHECK-NEXT: tessera.constant 1.500000e+00 : f32 : tensor<2x3xf32>
  %1 = tessera.constant 1.5 : f32 : tensor<2x3xf32>
  // CHECK-NEXT: tessera.constant true : tensor<i1>
  %2 = tessera.constant true : tensor<i1>
  // CHECK-NEXT: tessera.constant -128 : i8 : tensor<0xi8>
  %3 = tessera.constant -128 : i8 : tensor<0xi8>
  // CHECK-NEXT: tessera.random_bits %{{.*}} : tensor<2xi32> -> tensor<5xi32>
  %4 = tessera.random_bits %key : tensor<2xi32> -> tensor<5xi32>
  // CHECK-NEXT: tessera.extent tensor<2x3xi1> : tensor<f32>
  %6 = tessera.extent tensor<2x3xi1> : tensor<f32>
  // CHECK-NEXT: tessera.input : tensor<2xf64>
  %5 = tessera.input : tensor<2xf64>
  return
}
