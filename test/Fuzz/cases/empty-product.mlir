// A product over no elements, whose left operand is computed
// RUN: tessera-fuzz %s

func.func @main(%a: tensor<0x16xf32>, %b: tensor<1x16x1x0xf32>) -> tensor<1x1xf32> {
  %0 = tessera.sin %a : tensor<0x16xf32>
  %1 = tessera.dot_general %0, %b {a_batch = array<i64>, a_contract = array<i64: 0, 1>, b_batch = array<i64>, b_contract = array<i64: 3, 1>} : (tensor<0x16xf32>, tensor<1x16x1x0xf32>) -> tensor<1x1xf32>
  return %1 : tensor<1x1xf32>
}
