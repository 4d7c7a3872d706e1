// A small batched product of odd sizes, B transposed: small tiles, many blocks, elements one by one.
// RUN: tessera-opt %s -tessera-to-tensor -tessera-to-kernels -tessera-to-plan -tessera-to-loops=target=sm_80 -o %t
// RUN: FileCheck %s < %t
// RUN: tessera-ptx %t --arch=all --emit=check --max-registers=128 --max-shared=8192

// CHECK: known_block_size = array<i32: 64, 1, 1>
// 5 batches of 2 by 3 tiles.
// CHECK-SAME: tessera.launch = 30 : i64
func.func @main(%a: tensor<5x33x77xf32>, %b: tensor<5x67x77xf32>) -> tensor<5x33x67xf32> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64: 0>, b_batch = array<i64: 0>, a_contract = array<i64: 2>, b_contract = array<i64: 2>} : (tensor<5x33x77xf32>, tensor<5x67x77xf32>) -> tensor<5x33x67xf32>
  return %0 : tensor<5x33x67xf32>
}
