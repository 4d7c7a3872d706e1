// tessera.convert to i8: truncates, saturates, NaN gives 0; integers wrap
// RUN: tessera-numerics %s

func.func @from_f32(%x: tensor<7x19xf32>) -> tensor<7x19xi8> {
  %0 = tessera.convert %x : tensor<7x19xf32> -> tensor<7x19xi8>
  return %0 : tensor<7x19xi8>
}

func.func @from_f64(%x: tensor<7x19xf64>) -> tensor<7x19xi8> {
  %0 = tessera.convert %x : tensor<7x19xf64> -> tensor<7x19xi8>
  return %0 : tensor<7x19xi8>
}

func.func @from_i1(%x: tensor<7x19xi1>) -> tensor<7x19xi8> {
  %0 = tessera.convert %x : tensor<7x19xi1> -> tensor<7x19xi8>
  return %0 : tensor<7x19xi8>
}

func.func @from_i16(%x: tensor<7x19xi16>) -> tensor<7x19xi8> {
  %0 = tessera.convert %x : tensor<7x19xi16> -> tensor<7x19xi8>
  return %0 : tensor<7x19xi8>
}

func.func @from_i32(%x: tensor<7x19xi32>) -> tensor<7x19xi8> {
  %0 = tessera.convert %x : tensor<7x19xi32> -> tensor<7x19xi8>
  return %0 : tensor<7x19xi8>
}

func.func @from_i64(%x: tensor<7x19xi64>) -> tensor<7x19xi8> {
  %0 = tessera.convert %x : tensor<7x19xi64> -> tensor<7x19xi8>
  return %0 : tensor<7x19xi8>
}

func.func @values(
    %x: tensor<3xi32> {test.values = dense<[300, -129, 128]> : tensor<3xi32>}) -> (tensor<3xi8> {test.expect = dense<[44, 127, -128]> : tensor<3xi8>}) {
  %0 = tessera.convert %x : tensor<3xi32> -> tensor<3xi8>
  return %0 : tensor<3xi8>
}
