// Reductions of rows with their producers and consumers: norms, and sums that several ops read
// RUN: tessera-numerics %s

func.func @normalise(%x: tensor<9x37xf32>) -> tensor<9x37xf32>
    attributes {test.types = [f64, f16, bf16]} {
  %n = tessera.constant 3.700000e+01 : f32 : tensor<9xf32>
  %0 = tessera.reduce sum, %x {dims = array<i64: 1>} : tensor<9x37xf32> -> tensor<9xf32>
  %1 = tessera.div %0, %n : tensor<9xf32>
  %2 = tessera.broadcast %1 {dims = array<i64: 0>} : tensor<9xf32> -> tensor<9x37xf32>
  %3 = tessera.sub %x, %2 : tensor<9x37xf32>
  %4 = tessera.mul %3, %3 : tensor<9x37xf32>
  %5 = tessera.reduce sum, %4 {dims = array<i64: 1>} : tensor<9x37xf32> -> tensor<9xf32>
  %6 = tessera.div %5, %n : tensor<9xf32>
  %7 = tessera.rsqrt %6 : tensor<9xf32>
  %8 = tessera.broadcast %7 {dims = array<i64: 0>} : tensor<9xf32> -> tensor<9x37xf32>
  %9 = tessera.mul %3, %8 : tensor<9x37xf32>
  return %9 : tensor<9x37xf32>
}

func.func @mean_square(%x: tensor<41x67xf32>, %y: tensor<41x67xf32>) -> tensor<f32>
    attributes {test.types = [f64, f16, bf16]} {
  %0 = tessera.sub %x, %y : tensor<41x67xf32>
  %1 = tessera.mul %0, %0 : tensor<41x67xf32>
  %2 = tessera.reduce sum, %1 {dims = array<i64: 0, 1>} : tensor<41x67xf32> -> tensor<f32>
  %3 = tessera.constant 2.747000e+03 : f32 : tensor<f32>
  %4 = tessera.div %2, %3 : tensor<f32>
  return %4 : tensor<f32>
}

func.func @sum_and_max(%x: tensor<5x300xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5x300xf32>)
    attributes {test.types = [f64, f16, bf16, i32]} {
  %0 = tessera.mul %x, %x : tensor<5x300xf32>
  %1 = tessera.reduce sum, %0 {dims = array<i64: 1>} : tensor<5x300xf32> -> tensor<5xf32>
  %2 = tessera.reduce max, %x {dims = array<i64: 1>} : tensor<5x300xf32> -> tensor<5xf32>
  return %1, %2, %0 : tensor<5xf32>, tensor<5xf32>, tensor<5x300xf32>
}
