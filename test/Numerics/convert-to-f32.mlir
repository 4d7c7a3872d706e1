// tessera.convert to f32: rounds once
// RUN: tessera-numerics %s

func.func @from_f64(%x: tensor<7x19xf64>) -> tensor<7x19xf32> {
  %0 = tessera.convert %x : tensor<7x19xf64> -> tensor<7x19xf32>
  return %0 : tensor<7x19xf32>
}

func.func @from_i1(%x: tensor<7x19xi1>) -> tensor<7x19xf32> {
  %0 = tessera.convert %x : tensor<7x19xi1> -> tensor<7x19xf32>
  return %0 : tensor<7x19xf32>
}

func.func @from_i8(%x: tensor<7x19xi8>) -> tensor<7x19xf32> {
  %0 = tessera.convert %x : tensor<7x19xi8> -> tensor<7x19xf32>
  return %0 : tensor<7x19xf32>
}

func.func @from_i16(%x: tensor<7x19xi16>) -> tensor<7x19xf32> {
  %0 = tessera.convert %x : tensor<7x19xi16> -> tensor<7x19xf32>
  return %0 : tensor<7x19xf32>
}

func.func @from_i32(%x: tensor<7x19xi32>) -> tensor<7x19xf32> {
  %0 = tessera.convert %x : tensor<7x19xi32> -> tensor<7x19xf32>
  return %0 : tensor<7x19xf32>
}

func.func @from_i64(%x: tensor<7x19xi64>) -> tensor<7x19xf32> {
  %0 = tessera.convert %x : tensor<7x19xi64> -> tensor<7x19xf32>
  return %0 : tensor<7x19xf32>
}

func.func @ties_to_even(
    %x: tensor<3xi64> {test.values = dense<[16777217, 16777219, -16777217]> : tensor<3xi64>}) -> (tensor<3xf32> {test.expect = dense<[16777216.0, 16777220.0, -16777216.0]> : tensor<3xf32>}) {
  %0 = tessera.convert %x : tensor<3xi64> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
