// tessera.convert to i32: truncates, saturates, NaN gives 0; integers wrap
// RUN: tessera-numerics %s

func.func @from_f32(%x: tensor<7x19xf32>) -> tensor<7x19xi32> {
  %0 = tessera.convert %x : tensor<7x19xf32> -> tensor<7x19xi32>
  return %0 : tensor<7x19xi32>
}

func.func @from_f64(%x: tensor<7x19xf64>) -> tensor<7x19xi32> {
  %0 = tessera.convert %x : tensor<7x19xf64> -> tensor<7x19xi32>
  return %0 : tensor<7x19xi32>
}

func.func @from_i1(%x: tensor<7x19xi1>) -> tensor<7x19xi32> {
  %0 = tessera.convert %x : tensor<7x19xi1> -> tensor<7x19xi32>
  return %0 : tensor<7x19xi32>
}

func.func @from_i8(%x: tensor<7x19xi8>) -> tensor<7x19xi32> {
  %0 = tessera.convert %x : tensor<7x19xi8> -> tensor<7x19xi32>
  return %0 : tensor<7x19xi32>
}

func.func @from_i16(%x: tensor<7x19xi16>) -> tensor<7x19xi32> {
  %0 = tessera.convert %x : tensor<7x19xi16> -> tensor<7x19xi32>
  return %0 : tensor<7x19xi32>
}

func.func @from_i64(%x: tensor<7x19xi64>) -> tensor<7x19xi32> {
  %0 = tessera.convert %x : tensor<7x19xi64> -> tensor<7x19xi32>
  return %0 : tensor<7x19xi32>
}

func.func @values(
    %x: tensor<6xf32> {test.values = dense<[0x7FC00000, 0x7F800000, 0xFF800000, 2.9, -2.9, 3.0e9]> : tensor<6xf32>}) -> (tensor<6xi32> {test.expect = dense<[0, 2147483647, -2147483648, 2, -2, 2147483647]> : tensor<6xi32>}) {
  %0 = tessera.convert %x : tensor<6xf32> -> tensor<6xi32>
  return %0 : tensor<6xi32>
}
