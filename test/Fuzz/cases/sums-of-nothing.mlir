// Sums of nothing are zero for every result, those that are computed together too
// RUN: tessera-fuzz %s

func.func @main(%arg0: tensor<0x129x3xf32>, %arg1: tensor<129xf32>, %arg2: tensor<129xf32>) -> (tensor<129xf32>, tensor<129xf32>) {
  %0 = tessera.broadcast %arg0 {dims = array<i64: 0, 1, 2>} : tensor<0x129x3xf32> -> tensor<0x129x3xf32>
  %1 = tessera.reduce sum, %0 {dims = array<i64: 0, 2>} : tensor<0x129x3xf32> -> tensor<129xf32>
  %2 = tessera.reduce prod, %1 {dims = array<i64>} : tensor<129xf32> -> tensor<129xf32>
  %3 = tessera.sqrt %arg1 : tensor<129xf32>
  %4 = tessera.reduce sum, %arg2 {dims = array<i64>} : tensor<129xf32> -> tensor<129xf32>
  %5 = tessera.convert %arg2 : tensor<129xf32> -> tensor<129xi1>
  %6 = tessera.select %5, %4, %3 : tensor<129xi1>, tensor<129xf32>
  return %6, %2 : tensor<129xf32>, tensor<129xf32>
}
