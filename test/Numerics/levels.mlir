// Reductions of more than one level of chunks, up to three, along every kind of dimension.
// RUN: tessera-numerics %s

func.func @softmax(%a: tensor<1x1048580xf32>) -> tensor<1x1048580xf32> attributes {test.ulp = 8 : i64, test.absolute = 1.0e-30 : f64} {
  %0 = tessera.softmax %a {dim = 1 : i64} : tensor<1x1048580xf32> -> tensor<1x1048580xf32>
  return %0 : tensor<1x1048580xf32>
}
func.func @normalise(%a: tensor<3x20001xf64>) -> tensor<3x20001xf64> attributes {test.ulp = 8 : i64, test.absolute = 1.0e-30 : f64} {
  %0 = tessera.log_softmax %a {dim = 1 : i64} : tensor<3x20001xf64> -> tensor<3x20001xf64>
  return %0 : tensor<3x20001xf64>
}
func.func @all(%a: tensor<1x1050001xf32>) -> tensor<f32> {
  %0 = tessera.reduce sum, %a {dims = array<i64: 0, 1>} : tensor<1x1050001xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @argall(%a: tensor<1x1048577xf32>) -> tensor<1xi64> {
  %0 = tessera.reduce argmax, %a {dims = array<i64: 1>} : tensor<1x1048577xf32> -> tensor<1xi64>
  return %0 : tensor<1xi64>
}
func.func @cols(%a: tensor<1050000x2xf32>) -> tensor<2xf32> {
  %0 = tessera.reduce sum, %a {dims = array<i64: 0>} : tensor<1050000x2xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @middle(%a: tensor<7x1030x33xf32>) -> tensor<7x33xf32> {
  %0 = tessera.reduce prod, %a {dims = array<i64: 1>} : tensor<7x1030x33xf32> -> tensor<7x33xf32>
  return %0 : tensor<7x33xf32>
}
func.func @ends(%a: tensor<40x7x52xf32>) -> tensor<7xf32> {
  %0 = tessera.reduce sum, %a {dims = array<i64: 0, 2>} : tensor<40x7x52xf32> -> tensor<7xf32>
  return %0 : tensor<7xf32>
}
// Whole chunks, fewer than the threads of a block take at once.
func.func @whole_chunks(%a: tensor<16x128x1xf32>) -> tensor<f32> attributes {test.types = [f64, i32]} {
  %0 = tessera.reduce min, %a {dims = array<i64: 0, 1, 2>} : tensor<16x128x1xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @whole_chunks_of_rows(%a: tensor<3x4096xf32>) -> tensor<3xf32> attributes {test.types = [f64, i32]} {
  %0 = tessera.reduce sum, %a {dims = array<i64: 1>} : tensor<3x4096xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func @whole_chunks_of_columns(%a: tensor<2048x5xf32>) -> tensor<5xf32> attributes {test.types = [f64, i32]} {
  %0 = tessera.reduce sum, %a {dims = array<i64: 0>} : tensor<2048x5xf32> -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
func.func @whole_chunks_with_uses(%a: tensor<3x2048xf32>) -> tensor<3x2048xf32> attributes {test.ulp = 8 : i64, test.absolute = 1.0e-30 : f64} {
  %0 = tessera.softmax %a {dim = 1 : i64} : tensor<3x2048xf32> -> tensor<3x2048xf32>
  return %0 : tensor<3x2048xf32>
}
