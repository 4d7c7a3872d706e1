// A product over no elements and of a symbolic width packs nothing
// RUN: tessera-fuzz %s

func.func @main(%arg0: tensor<0xf32>, %arg1: tensor<0x2xf32>, %arg2: tensor<2xf32>) -> (tensor<0x2xf32>, tensor<2xf32>) {
  %0 = tessera.dot_general %arg0, %arg1 {a_batch = array<i64>, a_contract = array<i64: 0>, b_batch = array<i64>, b_contract = array<i64: 0>} : (tensor<0xf32>, tensor<0x2xf32>) -> tensor<2xf32>
  %1 = tessera.broadcast %0 {dims = array<i64: 1>} : tensor<2xf32> -> tensor<0x2xf32>
  return %1, %arg2 : tensor<0x2xf32>, tensor<2xf32>
}
