// tessera.random_bits: Philox 4x32-10; the block of counter 0 under key 0 is the published known answer
// RUN: tessera-numerics %s

func.func @known(%key: tensor<2xi32> {test.values = dense<0> : tensor<2xi32>}) -> (tensor<4xi32> {test.expect = dense<[0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]> : tensor<4xi32>}) {
  %0 = tessera.random_bits %key : tensor<2xi32> -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

func.func @odd(%key: tensor<2xi32>) -> tensor<7x19xi32> {
  %0 = tessera.random_bits %key : tensor<2xi32> -> tensor<7x19xi32>
  return %0 : tensor<7x19xi32>
}

func.func @long(%key: tensor<2xi32>) -> tensor<1037xi32> {
  %0 = tessera.random_bits %key : tensor<2xi32> -> tensor<1037xi32>
  return %0 : tensor<1037xi32>
}

func.func @scalar(%key: tensor<2xi32>) -> tensor<i32> {
  %0 = tessera.random_bits %key : tensor<2xi32> -> tensor<i32>
  return %0 : tensor<i32>
}

func.func @empty(%key: tensor<2xi32>) -> tensor<0xi32> {
  %0 = tessera.random_bits %key : tensor<2xi32> -> tensor<0xi32>
  return %0 : tensor<0xi32>
}

func.func @transposed(%key: tensor<2xi32>) -> tensor<7x5xi32> {
  %0 = tessera.random_bits %key : tensor<2xi32> -> tensor<5x7xi32>
  %1 = tessera.transpose %0 {permutation = array<i64: 1, 0>} : tensor<5x7xi32> -> tensor<7x5xi32>
  return %1 : tensor<7x5xi32>
}
