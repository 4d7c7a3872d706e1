// A join must not close a circle through a group that spans what comes before and after
// RUN: tessera-fuzz %s

func.func @main(%arg0: tensor<5x5xf32>, %arg1: tensor<5xi64>, %arg2: tensor<5xi1>, %arg3: tensor<5xf32>) -> (tensor<5x1xf32>, tensor<5xf32>) attributes {fuzz.gradient} {
  %0 = tessera.cross_entropy %arg0, %arg1 : tensor<5x5xf32>, tensor<5xi64> -> tensor<5xf32>
  %1 = tessera.reduce sum, %arg0 {dims = array<i64: 0, 1>} : tensor<5x5xf32> -> tensor<f32>
  %2 = tessera.rsqrt %arg3 : tensor<5xf32>
  %3 = tessera.select %arg2, %0, %2 : tensor<5xi1>, tensor<5xf32>
  %4 = tessera.broadcast %1 {dims = array<i64>} : tensor<f32> -> tensor<1xf32>
  %5 = tessera.dot_general %2, %4 {a_batch = array<i64>, a_contract = array<i64>, b_batch = array<i64>, b_contract = array<i64>} : (tensor<5xf32>, tensor<1xf32>) -> tensor<5x1xf32>
  return %5, %3 : tensor<5x1xf32>, tensor<5xf32>
}
