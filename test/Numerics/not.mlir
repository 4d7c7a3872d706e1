// tessera.not: flips a bool, or all bits of an integer
// RUN: tessera-numerics %s

func.func @i1(%x: tensor<7x19xi1>) -> tensor<7x19xi1> {
  %0 = tessera.not %x : tensor<7x19xi1>
  return %0 : tensor<7x19xi1>
}

func.func @i8(%x: tensor<7x19xi8>) -> tensor<7x19xi8> {
  %0 = tessera.not %x : tensor<7x19xi8>
  return %0 : tensor<7x19xi8>
}

func.func @i16(%x: tensor<7x19xi16>) -> tensor<7x19xi16> {
  %0 = tessera.not %x : tensor<7x19xi16>
  return %0 : tensor<7x19xi16>
}

func.func @i32(%x: tensor<7x19xi32>) -> tensor<7x19xi32> {
  %0 = tessera.not %x : tensor<7x19xi32>
  return %0 : tensor<7x19xi32>
}

func.func @i64(%x: tensor<7x19xi64>) -> tensor<7x19xi64> {
  %0 = tessera.not %x : tensor<7x19xi64>
  return %0 : tensor<7x19xi64>
}

func.func @scalar(%x: tensor<i1>) -> tensor<i1> {
  %0 = tessera.not %x : tensor<i1>
  return %0 : tensor<i1>
}

func.func @empty(%x: tensor<0x3xi32>) -> tensor<0x3xi32> {
  %0 = tessera.not %x : tensor<0x3xi32>
  return %0 : tensor<0x3xi32>
}
