// tessera.kernel: the region's ops
// RUN: tessera-numerics %s --device=reference

func.func @region(%x: tensor<5x7xf32>, %y: tensor<7xf32>) -> (tensor<5x7xf32>, tensor<5xf32>)
    attributes {test.types = [f64, i32]} {
  %0:2 = tessera.kernel row_reduce(%x, %y) : (tensor<5x7xf32>, tensor<7xf32>) -> (tensor<5x7xf32>, tensor<5xf32>) {
  ^bb0(%a: tensor<5x7xf32>, %b: tensor<7xf32>):
    %1 = tessera.broadcast %b {dims = array<i64: 1>} : tensor<7xf32> -> tensor<5x7xf32>
    %2 = tessera.mul %a, %1 : tensor<5x7xf32>
    %3 = tessera.reduce sum, %2 {dims = array<i64: 1>} : tensor<5x7xf32> -> tensor<5xf32>
    tessera.yield %2, %3 : tensor<5x7xf32>, tensor<5xf32>
  }
  return %0#0, %0#1 : tensor<5x7xf32>, tensor<5xf32>
}
