// tessera.reduce argmax: the first NaN, else the first maximum
// RUN: tessera-numerics %s

func.func @rows(%x: tensor<13x37xf32>) -> tensor<13xi64>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.reduce argmax, %x {dims = array<i64: 1>} : tensor<13x37xf32> -> tensor<13xi64>
  return %0 : tensor<13xi64>
}

func.func @columns(%x: tensor<37x13xf32>) -> tensor<13xi64>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.reduce argmax, %x {dims = array<i64: 0>} : tensor<37x13xf32> -> tensor<13xi64>
  return %0 : tensor<13xi64>
}

func.func @all(%x: tensor<5x7x11xf32>) -> tensor<i64>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.reduce argmax, %x {dims = array<i64: 0, 1, 2>} : tensor<5x7x11xf32> -> tensor<i64>
  return %0 : tensor<i64>
}

func.func @middle(%x: tensor<5x7x11xf32>) -> tensor<5x11xi64>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.reduce argmax, %x {dims = array<i64: 1>} : tensor<5x7x11xf32> -> tensor<5x11xi64>
  return %0 : tensor<5x11xi64>
}

func.func @ends(%x: tensor<5x7x11xf32>) -> tensor<7xi64>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.reduce argmax, %x {dims = array<i64: 0, 2>} : tensor<5x7x11xf32> -> tensor<7xi64>
  return %0 : tensor<7xi64>
}

func.func @chunks(%x: tensor<3x2309xf32>) -> tensor<3xi64>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.reduce argmax, %x {dims = array<i64: 1>} : tensor<3x2309xf32> -> tensor<3xi64>
  return %0 : tensor<3xi64>
}

func.func @long_columns(%x: tensor<1100x3xf32>) -> tensor<3xi64>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.reduce argmax, %x {dims = array<i64: 0>} : tensor<1100x3xf32> -> tensor<3xi64>
  return %0 : tensor<3xi64>
}

func.func @one(%x: tensor<4x1xf32>) -> tensor<4xi64>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.reduce argmax, %x {dims = array<i64: 1>} : tensor<4x1xf32> -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

func.func @no_rows(%x: tensor<0x5xf32>) -> tensor<0xi64>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.reduce argmax, %x {dims = array<i64: 1>} : tensor<0x5xf32> -> tensor<0xi64>
  return %0 : tensor<0xi64>
}

func.func @of_transpose(%x: tensor<37x70xf32>) -> tensor<70xi64>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.transpose %x {permutation = array<i64: 1, 0>} : tensor<37x70xf32> -> tensor<70x37xf32>
  %1 = tessera.reduce argmax, %0 {dims = array<i64: 1>} : tensor<70x37xf32> -> tensor<70xi64>
  return %1 : tensor<70xi64>
}

func.func @values(
    %x: tensor<3x4xf32> {test.values = dense<[[1.0, 3.0, 3.0, 2.0], [1.0, 0x7FC00000, 5.0, 0x7FC00000], [-0.0, 0.0, -1.0, -2.0]]> : tensor<3x4xf32>}) -> (tensor<3xi64> {test.expect = dense<[1, 1, 0]> : tensor<3xi64>}) {
  %0 = tessera.reduce argmax, %x {dims = array<i64: 1>} : tensor<3x4xf32> -> tensor<3xi64>
  return %0 : tensor<3xi64>
}
