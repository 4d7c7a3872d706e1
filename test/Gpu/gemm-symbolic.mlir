// A product of a symbolic number of rows: the grid is a formula, the sizes are read at run time.
// RUN: tessera-opt %s -tessera-to-tensor -tessera-to-kernels -tessera-to-plan -tessera-to-loops=target=sm_90 -o %t
// RUN: FileCheck %s < %t
// RUN: tessera-ptx %t --arch=sm_75,sm_90,sm_120 --emit=check --max-registers=128

// CHECK: gpu.func @gemm
// CHECK-SAME: memref<1xi64>
// CHECK-SAME: tessera.dims
// CHECK-SAME: tessera.launch = {{\[|array}}
func.func @main(%x: tensor<?x96xf32> {tessera.symbols = ["batch", ""]}, %w: tensor<96x80xf32>) -> tensor<?x80xf32> {
  %0 = tessera.dot_general %x, %w {a_batch = array<i64>, a_contract = array<i64: 1>, b_batch = array<i64>, b_contract = array<i64: 0>} : (tensor<?x96xf32>, tensor<96x80xf32>) -> tensor<?x80xf32>
  return %0 : tensor<?x80xf32>
}
