// Reductions of columns and of everything with their producers and consumers
// RUN: tessera-numerics %s

func.func @bias_gradient(%x: tensor<67x13xf32>, %m: tensor<67x13xf32>) -> tensor<13xf32>
    attributes {test.types = [f64, f16, bf16, i32]} {
  %0 = tessera.mul %x, %m : tensor<67x13xf32>
  %1 = tessera.reduce sum, %0 {dims = array<i64: 0>} : tensor<67x13xf32> -> tensor<13xf32>
  %2 = tessera.neg %1 : tensor<13xf32>
  return %2 : tensor<13xf32>
}

func.func @large_sum(%x: tensor<70001xf32>) -> tensor<f32>
    attributes {test.types = [f64, f16, bf16]} {
  %0 = tessera.mul %x, %x : tensor<70001xf32>
  %1 = tessera.reduce sum, %0 {dims = array<i64: 0>} : tensor<70001xf32> -> tensor<f32>
  %2 = tessera.sqrt %1 : tensor<f32>
  return %2 : tensor<f32>
}

func.func @large_max(%x: tensor<66001xf32>) -> tensor<f32>
    attributes {test.types = [i8]} {
  %0 = tessera.abs %x : tensor<66001xf32>
  %1 = tessera.reduce max, %0 {dims = array<i64: 0>} : tensor<66001xf32> -> tensor<f32>
  return %1 : tensor<f32>
}

func.func @plane(%x: tensor<3x40x5xf32>) -> tensor<3x5xf32> {
  %0 = tessera.abs %x : tensor<3x40x5xf32>
  %1 = tessera.reduce sum, %0 {dims = array<i64: 1>} : tensor<3x40x5xf32> -> tensor<3x5xf32>
  return %1 : tensor<3x5xf32>
}
