// tessera.convert to i16: truncates, saturates, NaN gives 0; integers wrap
// RUN: tessera-numerics %s

func.func @from_f32(%x: tensor<7x19xf32>) -> tensor<7x19xi16> {
  %0 = tessera.convert %x : tensor<7x19xf32> -> tensor<7x19xi16>
  return %0 : tensor<7x19xi16>
}

func.func @from_f64(%x: tensor<7x19xf64>) -> tensor<7x19xi16> {
  %0 = tessera.convert %x : tensor<7x19xf64> -> tensor<7x19xi16>
  return %0 : tensor<7x19xi16>
}

func.func @from_i1(%x: tensor<7x19xi1>) -> tensor<7x19xi16> {
  %0 = tessera.convert %x : tensor<7x19xi1> -> tensor<7x19xi16>
  return %0 : tensor<7x19xi16>
}

func.func @from_i8(%x: tensor<7x19xi8>) -> tensor<7x19xi16> {
  %0 = tessera.convert %x : tensor<7x19xi8> -> tensor<7x19xi16>
  return %0 : tensor<7x19xi16>
}

func.func @from_i32(%x: tensor<7x19xi32>) -> tensor<7x19xi16> {
  %0 = tessera.convert %x : tensor<7x19xi32> -> tensor<7x19xi16>
  return %0 : tensor<7x19xi16>
}

func.func @from_i64(%x: tensor<7x19xi64>) -> tensor<7x19xi16> {
  %0 = tessera.convert %x : tensor<7x19xi64> -> tensor<7x19xi16>
  return %0 : tensor<7x19xi16>
}
