// f16 and bf16: every elementwise op rounds; sums and products round once at the end
// RUN: tessera-numerics %s

func.func @abs(%x: tensor<7x19xf16>) -> tensor<7x19xf16> {
  %0 = tessera.abs %x : tensor<7x19xf16>
  return %0 : tensor<7x19xf16>
}

func.func @neg(%x: tensor<7x19xf16>) -> tensor<7x19xf16> {
  %0 = tessera.neg %x : tensor<7x19xf16>
  return %0 : tensor<7x19xf16>
}

func.func @sqrt(%x: tensor<7x19xf16>) -> tensor<7x19xf16> {
  %0 = tessera.sqrt %x : tensor<7x19xf16>
  return %0 : tensor<7x19xf16>
}

func.func @rsqrt(%x: tensor<7x19xf16>) -> tensor<7x19xf16> {
  %0 = tessera.rsqrt %x : tensor<7x19xf16>
  return %0 : tensor<7x19xf16>
}

func.func @f16_rounds(
    %a: tensor<3xf16> {test.values = dense<[2048.0, 2050.0, 65504.0]> : tensor<3xf16>},
    %b: tensor<3xf16> {test.values = dense<[1.0, 2.0, 16.0]> : tensor<3xf16>}) -> (tensor<3xf16> {test.expect = dense<[2048.0, 2052.0, 0x7C00]> : tensor<3xf16>}) {
  %0 = tessera.add %a, %b : tensor<3xf16>
  return %0 : tensor<3xf16>
}

func.func @bf16_rounds(
    %a: tensor<3xbf16> {test.values = dense<[256.0, 258.0, 1.0]> : tensor<3xbf16>},
    %b: tensor<3xbf16> {test.values = dense<[1.0, 3.0, 1.0]> : tensor<3xbf16>}) -> (tensor<3xbf16> {test.expect = dense<[256.0, 260.0, 2.0]> : tensor<3xbf16>}) {
  %0 = tessera.add %a, %b : tensor<3xbf16>
  return %0 : tensor<3xbf16>
}

func.func @sum_in_f32(
    %x: tensor<4xf16> {test.values = dense<[2048.0, 1.0, 1.0, 1.0]> : tensor<4xf16>}) -> (tensor<f16> {test.expect = dense<2052.0> : tensor<f16>}) {
  %0 = tessera.reduce sum, %x {dims = array<i64: 0>} : tensor<4xf16> -> tensor<f16>
  return %0 : tensor<f16>
}

func.func @from_f64(
    %x: tensor<3xf64> {test.values = dense<[1.00048828125, 65520.0, 5.0e-8]> : tensor<3xf64>}) -> (tensor<3xf16> {test.expect = dense<[1.0, 0x7C00, 0x0001]> : tensor<3xf16>}) {
  %0 = tessera.convert %x : tensor<3xf64> -> tensor<3xf16>
  return %0 : tensor<3xf16>
}

func.func @program_f16(%x: tensor<7x19xf16>, %y: tensor<19x5xf16>, %z: tensor<7x5xf16>) -> tensor<7xf32> {
  %0 = tessera.exp %x : tensor<7x19xf16>
  %1 = tessera.dot_general %0, %y {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>}
      : (tensor<7x19xf16>, tensor<19x5xf16>) -> tensor<7x5xf16>
  %2 = tessera.mul %1, %z : tensor<7x5xf16>
  %3 = tessera.reduce sum, %2 {dims = array<i64: 1>} : tensor<7x5xf16> -> tensor<7xf16>
  %4 = tessera.convert %3 : tensor<7xf16> -> tensor<7xf32>
  return %4 : tensor<7xf32>
}

func.func @program_bf16(%x: tensor<7x19xbf16>, %y: tensor<19x5xbf16>, %z: tensor<7x5xbf16>) -> tensor<7xf32> {
  %0 = tessera.exp %x : tensor<7x19xbf16>
  %1 = tessera.dot_general %0, %y {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>}
      : (tensor<7x19xbf16>, tensor<19x5xbf16>) -> tensor<7x5xbf16>
  %2 = tessera.mul %1, %z : tensor<7x5xbf16>
  %3 = tessera.reduce sum, %2 {dims = array<i64: 1>} : tensor<7x5xbf16> -> tensor<7xbf16>
  %4 = tessera.convert %3 : tensor<7xbf16> -> tensor<7xf32>
  return %4 : tensor<7xf32>
}
