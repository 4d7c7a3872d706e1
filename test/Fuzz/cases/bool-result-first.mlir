// Results without cotangents do not decide in which order those of others are added
// RUN: tessera-fuzz %s

func.func @main(%x: tensor<128xf64>) -> (tensor<i1>, tensor<f64>, tensor<256xf64>) attributes {fuzz.gradient} {
  %0 = tessera.concat %x, %x {dim = 0 : i64} : (tensor<128xf64>, tensor<128xf64>) -> tensor<256xf64>
  %1 = tessera.compare lt, %0, %0 : tensor<256xf64> -> tensor<256xi1>
  %2 = tessera.reduce max, %x {dims = array<i64: 0>} : tensor<128xf64> -> tensor<f64>
  %3 = tessera.reduce sum, %1 {dims = array<i64: 0>} : tensor<256xi1> -> tensor<i1>
  return %3, %2, %0 : tensor<i1>, tensor<f64>, tensor<256xf64>
}
