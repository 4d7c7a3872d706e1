// tessera.and: on bool and integers
// RUN: tessera-numerics %s

func.func @i1(%a: tensor<7x19xi1>, %b: tensor<7x19xi1>) -> tensor<7x19xi1> {
  %0 = tessera.and %a, %b : tensor<7x19xi1>
  return %0 : tensor<7x19xi1>
}

func.func @i8(%a: tensor<7x19xi8>, %b: tensor<7x19xi8>) -> tensor<7x19xi8> {
  %0 = tessera.and %a, %b : tensor<7x19xi8>
  return %0 : tensor<7x19xi8>
}

func.func @i16(%a: tensor<7x19xi16>, %b: tensor<7x19xi16>) -> tensor<7x19xi16> {
  %0 = tessera.and %a, %b : tensor<7x19xi16>
  return %0 : tensor<7x19xi16>
}

func.func @i32(%a: tensor<7x19xi32>, %b: tensor<7x19xi32>) -> tensor<7x19xi32> {
  %0 = tessera.and %a, %b : tensor<7x19xi32>
  return %0 : tensor<7x19xi32>
}

func.func @i64(%a: tensor<7x19xi64>, %b: tensor<7x19xi64>) -> tensor<7x19xi64> {
  %0 = tessera.and %a, %b : tensor<7x19xi64>
  return %0 : tensor<7x19xi64>
}

func.func @scalar(%a: tensor<i1>, %b: tensor<i1>) -> tensor<i1> {
  %0 = tessera.and %a, %b : tensor<i1>
  return %0 : tensor<i1>
}

func.func @empty(%a: tensor<0x3xi1>, %b: tensor<0x3xi1>) -> tensor<0x3xi1> {
  %0 = tessera.and %a, %b : tensor<0x3xi1>
  return %0 : tensor<0x3xi1>
}
