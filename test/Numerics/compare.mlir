// tessera.compare: any comparison with a NaN is false but ne; -0 equals 0
// RUN: tessera-numerics %s

func.func @eq(%a: tensor<7x19xf32>, %b: tensor<7x19xf32>) -> tensor<7x19xi1>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.compare eq, %a, %b : tensor<7x19xf32> -> tensor<7x19xi1>
  return %0 : tensor<7x19xi1>
}

func.func @ne(%a: tensor<7x19xf32>, %b: tensor<7x19xf32>) -> tensor<7x19xi1>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.compare ne, %a, %b : tensor<7x19xf32> -> tensor<7x19xi1>
  return %0 : tensor<7x19xi1>
}

func.func @lt(%a: tensor<7x19xf32>, %b: tensor<7x19xf32>) -> tensor<7x19xi1>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.compare lt, %a, %b : tensor<7x19xf32> -> tensor<7x19xi1>
  return %0 : tensor<7x19xi1>
}

func.func @le(%a: tensor<7x19xf32>, %b: tensor<7x19xf32>) -> tensor<7x19xi1>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.compare le, %a, %b : tensor<7x19xf32> -> tensor<7x19xi1>
  return %0 : tensor<7x19xi1>
}

func.func @gt(%a: tensor<7x19xf32>, %b: tensor<7x19xf32>) -> tensor<7x19xi1>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.compare gt, %a, %b : tensor<7x19xf32> -> tensor<7x19xi1>
  return %0 : tensor<7x19xi1>
}

func.func @ge(%a: tensor<7x19xf32>, %b: tensor<7x19xf32>) -> tensor<7x19xi1>
    attributes {test.types = [f64, f16, bf16, i1, i8, i16, i32, i64]} {
  %0 = tessera.compare ge, %a, %b : tensor<7x19xf32> -> tensor<7x19xi1>
  return %0 : tensor<7x19xi1>
}

func.func @scalar(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {
  %0 = tessera.compare lt, %a, %b : tensor<f32> -> tensor<i1>
  return %0 : tensor<i1>
}

func.func @empty(%a: tensor<0x3xf32>, %b: tensor<0x3xf32>) -> tensor<0x3xi1> {
  %0 = tessera.compare lt, %a, %b : tensor<0x3xf32> -> tensor<0x3xi1>
  return %0 : tensor<0x3xi1>
}

func.func @less(
    %a: tensor<5xf32> {test.values = dense<[-0.0, 0.0, 1.0, 0x7FC00000, 2.0]> : tensor<5xf32>},
    %b: tensor<5xf32> {test.values = dense<[0.0, -0.0, 2.0, 1.0, 0xFFC00000]> : tensor<5xf32>}) -> (tensor<5xi1> {test.expect = dense<[false, false, true, false, false]> : tensor<5xi1>}) {
  %0 = tessera.compare lt, %a, %b : tensor<5xf32> -> tensor<5xi1>
  return %0 : tensor<5xi1>
}

func.func @unequal(
    %a: tensor<5xf32> {test.values = dense<[-0.0, 0.0, 1.0, 0x7FC00000, 2.0]> : tensor<5xf32>},
    %b: tensor<5xf32> {test.values = dense<[0.0, -0.0, 2.0, 0x7FC00000, 2.0]> : tensor<5xf32>}) -> (tensor<5xi1> {test.expect = dense<[false, false, true, true, false]> : tensor<5xi1>}) {
  %0 = tessera.compare ne, %a, %b : tensor<5xf32> -> tensor<5xi1>
  return %0 : tensor<5xi1>
}
