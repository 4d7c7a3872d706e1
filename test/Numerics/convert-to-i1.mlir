// tessera.convert to i1: what is not zero is true
// RUN: tessera-numerics %s

func.func @from_f32(%x: tensor<7x19xf32>) -> tensor<7x19xi1> {
  %0 = tessera.convert %x : tensor<7x19xf32> -> tensor<7x19xi1>
  return %0 : tensor<7x19xi1>
}

func.func @from_f64(%x: tensor<7x19xf64>) -> tensor<7x19xi1> {
  %0 = tessera.convert %x : tensor<7x19xf64> -> tensor<7x19xi1>
  return %0 : tensor<7x19xi1>
}

func.func @from_i8(%x: tensor<7x19xi8>) -> tensor<7x19xi1> {
  %0 = tessera.convert %x : tensor<7x19xi8> -> tensor<7x19xi1>
  return %0 : tensor<7x19xi1>
}

func.func @from_i16(%x: tensor<7x19xi16>) -> tensor<7x19xi1> {
  %0 = tessera.convert %x : tensor<7x19xi16> -> tensor<7x19xi1>
  return %0 : tensor<7x19xi1>
}

func.func @from_i32(%x: tensor<7x19xi32>) -> tensor<7x19xi1> {
  %0 = tessera.convert %x : tensor<7x19xi32> -> tensor<7x19xi1>
  return %0 : tensor<7x19xi1>
}

func.func @from_i64(%x: tensor<7x19xi64>) -> tensor<7x19xi1> {
  %0 = tessera.convert %x : tensor<7x19xi64> -> tensor<7x19xi1>
  return %0 : tensor<7x19xi1>
}

func.func @values(
    %x: tensor<5xf32> {test.values = dense<[-0.0, 0.0, 1.0e-45, 0x7FC00000, -1.0]> : tensor<5xf32>}) -> (tensor<5xi1> {test.expect = dense<[false, false, true, true, true]> : tensor<5xi1>}) {
  %0 = tessera.convert %x : tensor<5xf32> -> tensor<5xi1>
  return %0 : tensor<5xi1>
}
