// The constant before which sizes are computed is replaced itself
// RUN: tessera-fuzz %s

func.func @main(%arg0: tensor<2x7x7xf32>, %arg1: tensor<7x7x2xf32>) -> tensor<7x7x7xf32> {
  %0 = tessera.dot_general %arg0, %arg1 {a_batch = array<i64: 1>, a_contract = array<i64: 0>, b_batch = array<i64: 1>, b_contract = array<i64: 2>} : (tensor<2x7x7xf32>, tensor<7x7x2xf32>) -> tensor<7x7x7xf32>
  return %0 : tensor<7x7x7xf32>
}
