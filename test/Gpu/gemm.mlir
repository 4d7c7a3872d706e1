// A large product by fused multiply-adds: tiles of 128x128 through shared memory, 128-bit accesses, no spills.
// RUN: tessera-opt %s -tessera-to-tensor -tessera-to-kernels -tessera-to-plan -tessera-to-loops=target=sm_90 -o %t
// RUN: FileCheck %s < %t
// RUN: tessera-ptx %t --arch=all --emit=check --max-registers=255 --max-shared=32768 --expect='ld.global.v4.b32|ld.global.v2.b64' --expect='ld.shared.v4.b32|ld.shared.v2.b64' --expect='st.global.v4.b32|st.global.v2.b64' --expect=fma.rn.f32 --forbid=mul.rn.f32 --forbid=ld.local
// RUN: tessera-ptx %t --arch=sm_90 | FileCheck %s --check-prefix=PTX

// CHECK: gpu.func @gemm
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>
// CHECK-SAME: tessera.launch = 1024 : i64
// CHECK-SAME: tessera.shared = 32768 : i64
// The totals of chunks of k, and the next tile's elements on their way.
// CHECK: scf.for
// CHECK: vector.load {{.*}} {alignment = 16 : i64} : memref<4194304xf32>, vector<4xf32>
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK: math.fma {{.*}} : vector<4xf32>
// The epilogue is built once.
// CHECK: gpu.barrier
// CHECK: gpu.barrier
// CHECK: math.sqrt
// CHECK-NOT: math.sqrt

// 4 steps of k for 64 sums, and the loads for one of them.
// PTX-NOT: ld.local
// PTX: bar.sync
// PTX-COUNT-256: fma.rn.f32
// PTX-NOT: fma
// PTX: bar.sync
func.func @main(%a: tensor<4096x1024xf32>, %b: tensor<1024x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>} : (tensor<4096x1024xf32>, tensor<1024x4096xf32>) -> tensor<4096x4096xf32>
  %1 = tessera.sqrt %0 : tensor<4096x4096xf32>
  return %1 : tensor<4096x4096xf32>
}
