// A large product of bf16 on tensor cores: asynchronous copies of 16 bytes, ldmatrix as they lie and transposed.
// RUN: tessera-opt %s -tessera-to-tensor -tessera-to-kernels -tessera-to-plan -tessera-to-loops=target=sm_90 -o %t.90
// RUN: FileCheck %s < %t.90
// RUN: tessera-ptx %t.90 --arch=sm_90,sm_90a,sm_100 --emit=check --max-registers=128 --max-shared=65536 --min-occupancy=0.25 --expect=cp.async.cg.shared.global --expect=cp.async.wait_group --expect=ldmatrix.sync.aligned.m8n8.x4.shared.b16 --expect=ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 --expect=mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 --expect=st.global.v2.b32 --forbid=fma.rn.f32
// RUN: tessera-opt %s -tessera-to-tensor -tessera-to-kernels -tessera-to-plan -tessera-to-loops=target=sm_80 | tessera-ptx --arch=sm_80 --emit=check --max-registers=128 --max-shared=65536 --expect=cp.async.cg.shared.global --expect=mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// Where there is less shared memory there are three stages, so that two blocks still run side by side.
// RUN: tessera-opt %s -tessera-to-tensor -tessera-to-kernels -tessera-to-plan -tessera-to-loops=target=sm_86 | tessera-ptx --arch=sm_86,sm_89,sm_120 --emit=check --max-registers=128 --max-shared=49152 --min-occupancy=0.33 --expect=cp.async.cg.shared.global --expect=mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// Before sm_80 there is no bf16.
// RUN: tessera-opt %s -tessera-to-tensor -tessera-to-kernels -tessera-to-plan -tessera-to-loops=target=sm_75 | tessera-ptx --arch=sm_75 --emit=check --expect=fma.rn.f32 --forbid=mma.sync

// CHECK: gpu.func @gemm
// CHECK-SAME: tessera.launch = 1024 : i64
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.wait.group 2
// CHECK: nvvm.ldmatrix
// CHECK: nvvm.mma.sync
func.func @main(%a: tensor<4096x2048xbf16>, %b: tensor<2048x4096xbf16>) -> tensor<4096x4096xbf16> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>} : (tensor<4096x2048xbf16>, tensor<2048x4096xbf16>) -> tensor<4096x4096xbf16>
  return %0 : tensor<4096x4096xbf16>
}
