// A small result of many steps of k: the chunks of k are computed apart, and added by a second launch.
// RUN: tessera-opt %s -tessera-to-tensor -tessera-to-kernels -tessera-to-plan -tessera-to-loops=target=sm_90 -o %t
// RUN: FileCheck %s < %t
// RUN: tessera-ptx %t --arch=sm_75,sm_80,sm_90,sm_120 --emit=check --max-registers=168 --expect='ld.global.v4.b32|ld.global.v2.b64'

// 64 chunks of 2 by 1 tiles; 64 sums of 32,768 elements.
// CHECK: gpu.func @gemm(
// CHECK-SAME: tessera.launch = 128 : i64
// CHECK-SAME: tessera.workspace = 8388608 : i64
// CHECK: gpu.func @gemm_1(
// CHECK: arith.addf
// CHECK: math.exp
func.func @main(%a: tensor<32768x256xf32>, %b: tensor<32768x128xf32>) -> tensor<256x128xf32> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 0>, b_contract = array<i64: 0>} : (tensor<32768x256xf32>, tensor<32768x128xf32>) -> tensor<256x128xf32>
  %1 = tessera.exp %0 : tensor<256x128xf32>
  return %1 : tensor<256x128xf32>
}
