// tessera.cos: within one unit in the last place
// RUN: tessera-numerics %s

func.func @odd(%x: tensor<7x19xf32>) -> tensor<7x19xf32>
    attributes {test.types = [f64, f16, bf16], test.ulp = 1 : i64} {
  %0 = tessera.cos %x : tensor<7x19xf32>
  return %0 : tensor<7x19xf32>
}

func.func @long(%x: tensor<1037xf32>) -> tensor<1037xf32>
    attributes {test.types = [f64, f16, bf16], test.ulp = 1 : i64} {
  %0 = tessera.cos %x : tensor<1037xf32>
  return %0 : tensor<1037xf32>
}

func.func @scalar(%x: tensor<f32>) -> tensor<f32>
    attributes {test.types = [f64, f16, bf16], test.ulp = 1 : i64} {
  %0 = tessera.cos %x : tensor<f32>
  return %0 : tensor<f32>
}

func.func @empty(%x: tensor<3x0x2xf32>) -> tensor<3x0x2xf32>
    attributes {test.types = [f64, f16, bf16], test.ulp = 1 : i64} {
  %0 = tessera.cos %x : tensor<3x0x2xf32>
  return %0 : tensor<3x0x2xf32>
}

func.func @views(%x: tensor<9x5xf32>) -> tensor<5x4xf32>
    attributes {test.types = [f64, f16, bf16], test.ulp = 1 : i64} {
  %0 = tessera.transpose %x {permutation = array<i64: 1, 0>} : tensor<9x5xf32> -> tensor<5x9xf32>
  %1 = tessera.slice %0 {starts = array<i64: 0, 8>, strides = array<i64: 1, -2>} : tensor<5x9xf32> -> tensor<5x4xf32>
  %2 = tessera.cos %1 : tensor<5x4xf32>
  return %2 : tensor<5x4xf32>
}
