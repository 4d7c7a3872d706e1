// tessera.reduce sum: by the tree of the contract; integers wrap
// RUN: tessera-numerics %s

func.func @rows(%x: tensor<13x37xf32>) -> tensor<13xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.reduce sum, %x {dims = array<i64: 1>} : tensor<13x37xf32> -> tensor<13xf32>
  return %0 : tensor<13xf32>
}

func.func @columns(%x: tensor<37x13xf32>) -> tensor<13xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.reduce sum, %x {dims = array<i64: 0>} : tensor<37x13xf32> -> tensor<13xf32>
  return %0 : tensor<13xf32>
}

func.func @all(%x: tensor<5x7x11xf32>) -> tensor<f32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.reduce sum, %x {dims = array<i64: 0, 1, 2>} : tensor<5x7x11xf32> -> tensor<f32>
  return %0 : tensor<f32>
}

func.func @middle(%x: tensor<5x7x11xf32>) -> tensor<5x11xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.reduce sum, %x {dims = array<i64: 1>} : tensor<5x7x11xf32> -> tensor<5x11xf32>
  return %0 : tensor<5x11xf32>
}

func.func @ends(%x: tensor<5x7x11xf32>) -> tensor<7xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.reduce sum, %x {dims = array<i64: 0, 2>} : tensor<5x7x11xf32> -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

func.func @chunks(%x: tensor<3x2309xf32>) -> tensor<3xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.reduce sum, %x {dims = array<i64: 1>} : tensor<3x2309xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

func.func @long_columns(%x: tensor<1100x3xf32>) -> tensor<3xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.reduce sum, %x {dims = array<i64: 0>} : tensor<1100x3xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

func.func @one(%x: tensor<4x1xf32>) -> tensor<4xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.reduce sum, %x {dims = array<i64: 1>} : tensor<4x1xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @no_rows(%x: tensor<0x5xf32>) -> tensor<0xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.reduce sum, %x {dims = array<i64: 1>} : tensor<0x5xf32> -> tensor<0xf32>
  return %0 : tensor<0xf32>
}

func.func @nothing(%x: tensor<5x0xf32>) -> tensor<5xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.reduce sum, %x {dims = array<i64: 1>} : tensor<5x0xf32> -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

func.func @scalar(%x: tensor<f32>) -> tensor<f32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.reduce sum, %x {dims = array<i64>} : tensor<f32> -> tensor<f32>
  return %0 : tensor<f32>
}

func.func @of_transpose(%x: tensor<37x70xf32>) -> tensor<70xf32>
    attributes {test.types = [f64, f16, bf16, i8, i16, i32, i64]} {
  %0 = tessera.transpose %x {permutation = array<i64: 1, 0>} : tensor<37x70xf32> -> tensor<70x37xf32>
  %1 = tessera.reduce sum, %0 {dims = array<i64: 1>} : tensor<70x37xf32> -> tensor<70xf32>
  return %1 : tensor<70xf32>
}

func.func @pairs(
    %x: tensor<4xf32> {test.values = dense<[1.0, 5.96046448e-8, 5.96046448e-8, 5.96046448e-8]> : tensor<4xf32>}) -> (tensor<f32> {test.expect = dense<1.00000012> : tensor<f32>}) {
  %0 = tessera.reduce sum, %x {dims = array<i64: 0>} : tensor<4xf32> -> tensor<f32>
  return %0 : tensor<f32>
}

func.func @zeros(
    %x: tensor<2x3xf32> {test.values = dense<-0.0> : tensor<2x3xf32>}) -> (tensor<2xf32> {test.expect = dense<-0.0> : tensor<2xf32>}) {
  %0 = tessera.reduce sum, %x {dims = array<i64: 1>} : tensor<2x3xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

func.func @of_nothing(
    %x: tensor<2x0xf32> {test.values = dense<0.0> : tensor<2x0xf32>}) -> (tensor<2xf32> {test.expect = dense<0.0> : tensor<2xf32>}) {
  %0 = tessera.reduce sum, %x {dims = array<i64: 1>} : tensor<2x0xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// Nothing, between dimensions that stay.
func.func @nothing_around(%x: tensor<0x129x3xf32>) -> tensor<129xf32> {
  %0 = tessera.reduce sum, %x {dims = array<i64: 0, 2>} : tensor<0x129x3xf32> -> tensor<129xf32>
  return %0 : tensor<129xf32>
}

func.func @nothing_before_one(%x: tensor<0x1x3xf32>) -> tensor<1xf32> {
  %0 = tessera.reduce sum, %x {dims = array<i64: 0, 2>} : tensor<0x1x3xf32> -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
