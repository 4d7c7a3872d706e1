// tessera.cross_entropy: its decomposition; a label that is no class gives NaN
// RUN: tessera-numerics %s

func.func @batch(%x: tensor<9x37xf32>, %labels: tensor<9xi64> {test.range = [-1, 37]}) -> tensor<9xf32>
    attributes {test.types = [f64, f16, bf16], test.ulp = 4 : i64, test.absolute = 1.0e-6 : f64} {
  %0 = tessera.cross_entropy %x, %labels : tensor<9x37xf32>, tensor<9xi64> -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

func.func @narrow(%x: tensor<9x10xf32>, %labels: tensor<9xi32> {test.range = [-1, 10]}) -> tensor<9xf32>
    attributes {test.types = [f64, f16, bf16], test.ulp = 4 : i64, test.absolute = 1.0e-6 : f64} {
  %0 = tessera.cross_entropy %x, %labels : tensor<9x10xf32>, tensor<9xi32> -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

func.func @planes(%x: tensor<2x3x5xf32>, %labels: tensor<2x3xi64> {test.range = [-1, 5]}) -> tensor<2x3xf32>
    attributes {test.types = [f64, f16, bf16], test.ulp = 4 : i64, test.absolute = 1.0e-6 : f64} {
  %0 = tessera.cross_entropy %x, %labels : tensor<2x3x5xf32>, tensor<2x3xi64> -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @vector(%x: tensor<7xf32>, %labels: tensor<i64> {test.range = [-1, 7]}) -> tensor<f32>
    attributes {test.types = [f64, f16, bf16], test.ulp = 4 : i64, test.absolute = 1.0e-6 : f64} {
  %0 = tessera.cross_entropy %x, %labels : tensor<7xf32>, tensor<i64> -> tensor<f32>
  return %0 : tensor<f32>
}

func.func @empty(%x: tensor<0x3xf32>, %labels: tensor<0xi64> {test.range = [-1, 3]}) -> tensor<0xf32>
    attributes {test.types = [f64, f16, bf16], test.ulp = 4 : i64, test.absolute = 1.0e-6 : f64} {
  %0 = tessera.cross_entropy %x, %labels : tensor<0x3xf32>, tensor<0xi64> -> tensor<0xf32>
  return %0 : tensor<0xf32>
}

// More classes than the labels' type counts: the label 30 is one class, and not the one after 256 of them too.
func.func @many_classes(
    %x: tensor<3x300xf32> {test.values = dense<0.0> : tensor<3x300xf32>},
    %l: tensor<3xi8> {test.values = dense<[100, -1, 30]> : tensor<3xi8>})
    -> (tensor<3xf32> {test.expect = dense<[5.7037826, 0x7FC00000, 5.7037826]> : tensor<3xf32>})
    attributes {test.ulp = 4 : i64} {
  %0 = tessera.cross_entropy %x, %l : tensor<3x300xf32>, tensor<3xi8> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
