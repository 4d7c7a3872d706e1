// tessera.constant: one value everywhere
// RUN: tessera-numerics %s

func.func @f32() -> (tensor<3xf32> {test.expect = dense<1.5> : tensor<3xf32>}) {
  %0 = tessera.constant 1.5 : f32 : tensor<3xf32>
  return %0 : tensor<3xf32>
}

func.func @f64() -> (tensor<3xf64> {test.expect = dense<-0.0> : tensor<3xf64>}) {
  %0 = tessera.constant -0.0 : f64 : tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @nan() -> (tensor<3xf32> {test.expect = dense<0x7FC00000> : tensor<3xf32>}) {
  %0 = tessera.constant 0x7FC00000 : f32 : tensor<3xf32>
  return %0 : tensor<3xf32>
}

func.func @infinity() -> (tensor<3xf64> {test.expect = dense<0x7FF0000000000000> : tensor<3xf64>}) {
  %0 = tessera.constant 0x7FF0000000000000 : f64 : tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @i1() -> (tensor<3xi1> {test.expect = dense<true> : tensor<3xi1>}) {
  %0 = tessera.constant true : tensor<3xi1>
  return %0 : tensor<3xi1>
}

func.func @i8() -> (tensor<3xi8> {test.expect = dense<-128> : tensor<3xi8>}) {
  %0 = tessera.constant -128 : i8 : tensor<3xi8>
  return %0 : tensor<3xi8>
}

func.func @i32() -> (tensor<3xi32> {test.expect = dense<7> : tensor<3xi32>}) {
  %0 = tessera.constant 7 : i32 : tensor<3xi32>
  return %0 : tensor<3xi32>
}

func.func @i64() -> (tensor<3xi64> {test.expect = dense<-9223372036854775808> : tensor<3xi64>}) {
  %0 = tessera.constant -9223372036854775808 : i64 : tensor<3xi64>
  return %0 : tensor<3xi64>
}
