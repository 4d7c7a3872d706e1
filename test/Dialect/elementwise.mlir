// Elementwise ops print as they parse.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

// CHECK-LABEL: @unary
func.func @unary(%x: tensor<2x3xf32>) {
  // CHECK-NEXT: tessera.abs %{{.*}} : tensor<2x3xf32>
  %0 = tessera.abs %x : tensor<2x3xf32>
  // CHECK-NEXT: tessera.exp
  %1 = tessera.exp %x : tensor<2x3xf32>
  // CHECK-NEXT: tessera.log
  %2 = tessera.log %x : tensor<2x3xf32>
  // CHECK-NEXT: tessera.sqrt
  %3 = tessera.sqrt %x : tensor<2x3xf32>
  // CHECK-NEXT: tessera.rsqrt
  %4 = tessera.rsqrt %x : tensor<2x3xf32>
  // CHECK-NEXT: tessera.tanh
  %5 = tessera.tanh %x : tensor<2x3xf32>
  // CHECK-NEXT: tessera.sin
  %6 = tessera.sin %x : tensor<2x3xf32>
  // CHECK-NEXT: tessera.cos
  %7 = tessera.cos %x : tensor<2x3xf32>
  // CHECK-NEXT: tessera.erf
  %8 = tessera.erf %x : tensor<2x3xf32>
  // CHECK-NEXT: tessera.neg
  %9 = tessera.neg %x : tensor<2x3xf32>
  return
}

// CHECK-LABEL: @binary
func.func @binary(%a: tensor<f64>, %b: tensor<f64>) {
  // CHECK-NEXT: tessera.add %{{.*}}, %{{.*}} : tensor<f64>
  %0 = tessera.add %a, %b : tensor<f64>
  // CHECK-NEXT: tessera.sub
  %1 = tessera.sub %a, %b : tensor<f64>
  // CHECK-NEXT: tessera.mul
  %2 = tessera.mul %a, %b : tensor<f64>
  // CHECK-NEXT: tessera.div
  %3 = tessera.div %a, %b : tensor<f64>
  // CHECK-NEXT: tessera.pow
  %4 = tessera.pow %a, %b : tensor<f64>
  // CHECK-NEXT: tessera.max
  %5 = tessera.max %a, %b : tensor<f64>
  // CHECK-NEXT: tessera.min
  %6 = tessera.min %a, %b : tensor<f64>
  return
}

// CHECK-LABEL: @bits
func.func @bits(%a: tensor<4xi1>, %b: tensor<4xi1>) {
  // CHECK-NEXT: tessera.not %{{.*}} : tensor<4xi1>
  %0 = tessera.not %a : tensor<4xi1>
  // CHECK-NEXT: tessera.and %{{.*}}, %{{.*}} : tensor<4xi1>
  %1 = tessera.and %a, %b : tensor<4xi1>
  // CHECK-NEXT: tessera.or
  %2 = tessera.or %a, %b : tensor<4xi1>
  // CHECK-NEXT: tessera.xor
  %3 = tessera.xor %a, %b : tensor<4xi1>
  return
}

// CHECK-LABEL: @choices
func.func @choices(%a: tensor<4xbf16>, %b: tensor<4xbf16>) {
  // CHECK-NEXT: %[[P:.*]] = tessera.compare lt, %{{.*}}, %{{.*}} : tensor<4xbf16> -> tensor<4xi1>
  %0 = tessera.compare lt, %a, %b : tensor<4xbf16> -> tensor<4xi1>
  // CHECK-NEXT: tessera.select %[[P]], %{{.*}}, %{{.*}} : tensor<4xi1>, tensor<4xbf16>
  %1 = tessera.select %0, %a, %b : tensor<4xi1>, tensor<4xbf16>
  // CHECK-NEXT: tessera.convert %[[P]] : tensor<4xi1> -> tensor<4xi8>
  %2 = tessera.convert %0 : tensor<4xi1> -> tensor<4xi8>
  return
}
