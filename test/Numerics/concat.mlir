// tessera.concat: along any dimension, of empty tensors too
// RUN: tessera-numerics %s

func.func @rows(%x0: tensor<2x7xf32>, %x1: tensor<3x7xf32>, %x2: tensor<1x7xf32>) -> tensor<6x7xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.concat %x0, %x1, %x2 {dim = 0 : i64} : (tensor<2x7xf32>, tensor<3x7xf32>, tensor<1x7xf32>) -> tensor<6x7xf32>
  return %0 : tensor<6x7xf32>
}

func.func @columns(%x0: tensor<5x3xf32>, %x1: tensor<5x9xf32>) -> tensor<5x12xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.concat %x0, %x1 {dim = 1 : i64} : (tensor<5x3xf32>, tensor<5x9xf32>) -> tensor<5x12xf32>
  return %0 : tensor<5x12xf32>
}

func.func @middle(%x0: tensor<2x1x3xf32>, %x1: tensor<2x4x3xf32>) -> tensor<2x5x3xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.concat %x0, %x1 {dim = 1 : i64} : (tensor<2x1x3xf32>, tensor<2x4x3xf32>) -> tensor<2x5x3xf32>
  return %0 : tensor<2x5x3xf32>
}

func.func @with_empty(%x0: tensor<0xf32>, %x1: tensor<5xf32>, %x2: tensor<0xf32>) -> tensor<5xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.concat %x0, %x1, %x2 {dim = 0 : i64} : (tensor<0xf32>, tensor<5xf32>, tensor<0xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

func.func @alone(%x0: tensor<3x2xf32>) -> tensor<3x2xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.concat %x0 {dim = 1 : i64} : (tensor<3x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

func.func @all_empty(%x0: tensor<0x2xf32>, %x1: tensor<0x2xf32>) -> tensor<0x2xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.concat %x0, %x1 {dim = 0 : i64} : (tensor<0x2xf32>, tensor<0x2xf32>) -> tensor<0x2xf32>
  return %0 : tensor<0x2xf32>
}

func.func @twice(%x: tensor<4xf32>) -> tensor<8xf32>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.concat %x, %x {dim = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
