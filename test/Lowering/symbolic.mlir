// Symbolic dimensions through the stages: `?` in files, places and arenas by symbol.
// RUN: tessera-opt %s -tessera-to-tensor -tessera-to-kernels | FileCheck %s --check-prefix=KERNELS
// RUN: tessera-opt %s -tessera-to-tensor -tessera-to-kernels -tessera-to-plan | FileCheck %s --check-prefix=PLAN

// KERNELS: func.func @main(%{{.*}}: tensor<?x8xf32> {tessera.symbols = ["batch", ""]}, %{{.*}}: tensor<8x4xf32>) -> tensor<4xf32>
// KERNELS: tessera.kernel gemm
// KERNELS-SAME: saves 16 * ? bytes
// KERNELS: tessera.dot_general {{.*}} -> tensor<?x4xf32>
// KERNELS: tessera.kernel col_reduce

// PLAN: tessera.arena = 64 : i64, tessera.arena_per = array<i64: 16>
// PLAN: places = [#tessera.place<arena, 64, [0]>]
func.func @main(%x: tensor<?x8xf32> {tessera.symbols = ["batch", ""]}, %w: tensor<8x4xf32>) -> tensor<4xf32> {
  %0 = tessera.dot_general %x, %w {a_batch = array<i64>, a_contract = array<i64: 1>, b_batch = array<i64>, b_contract = array<i64: 0>} : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  %1 = tessera.exp %0 : tensor<?x4xf32>
  %2 = tessera.reduce sum, %1 {dims = array<i64: 0>} : tensor<?x4xf32> -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
