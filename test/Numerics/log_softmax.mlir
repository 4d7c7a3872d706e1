// tessera.log_softmax: its decomposition, with exp and log within one unit
// RUN: tessera-numerics %s

func.func @rows(%x: tensor<9x37xf32>) -> tensor<9x37xf32>
    attributes {test.types = [f64, f16, bf16], test.ulp = 4 : i64, test.absolute = 1.0e-6 : f64} {
  %0 = tessera.log_softmax %x {dim = 1 : i64} : tensor<9x37xf32> -> tensor<9x37xf32>
  return %0 : tensor<9x37xf32>
}

func.func @columns(%x: tensor<37x9xf32>) -> tensor<37x9xf32>
    attributes {test.types = [f64, f16, bf16], test.ulp = 4 : i64, test.absolute = 1.0e-6 : f64} {
  %0 = tessera.log_softmax %x {dim = 0 : i64} : tensor<37x9xf32> -> tensor<37x9xf32>
  return %0 : tensor<37x9xf32>
}

func.func @middle(%x: tensor<3x7x5xf32>) -> tensor<3x7x5xf32>
    attributes {test.types = [f64, f16, bf16], test.ulp = 4 : i64, test.absolute = 1.0e-6 : f64} {
  %0 = tessera.log_softmax %x {dim = 1 : i64} : tensor<3x7x5xf32> -> tensor<3x7x5xf32>
  return %0 : tensor<3x7x5xf32>
}

func.func @long(%x: tensor<2x1100xf32>) -> tensor<2x1100xf32>
    attributes {test.types = [f64, f16, bf16], test.ulp = 4 : i64, test.absolute = 1.0e-6 : f64} {
  %0 = tessera.log_softmax %x {dim = 1 : i64} : tensor<2x1100xf32> -> tensor<2x1100xf32>
  return %0 : tensor<2x1100xf32>
}

func.func @one(%x: tensor<4x1xf32>) -> tensor<4x1xf32>
    attributes {test.types = [f64, f16, bf16], test.ulp = 4 : i64, test.absolute = 1.0e-6 : f64} {
  %0 = tessera.log_softmax %x {dim = 1 : i64} : tensor<4x1xf32> -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}

func.func @empty(%x: tensor<0x3xf32>) -> tensor<0x3xf32>
    attributes {test.types = [f64, f16, bf16], test.ulp = 4 : i64, test.absolute = 1.0e-6 : f64} {
  %0 = tessera.log_softmax %x {dim = 1 : i64} : tensor<0x3xf32> -> tensor<0x3xf32>
  return %0 : tensor<0x3xf32>
}

func.func @of_nothing(%x: tensor<3x0xf32>) -> tensor<3x0xf32>
    attributes {test.types = [f64, f16, bf16], test.ulp = 4 : i64, test.absolute = 1.0e-6 : f64} {
  %0 = tessera.log_softmax %x {dim = 1 : i64} : tensor<3x0xf32> -> tensor<3x0xf32>
  return %0 : tensor<3x0xf32>
}
