// A large product of f32 on tensor cores, where tf32 is allowed: asynchronous copies of 16 bytes; what lies transposed is read word by word.
// RUN: tessera-opt %s -tessera-to-tensor -tessera-to-kernels -tessera-to-plan -tessera-to-loops="target=sm_90 tf32" -o %t.90
// RUN: FileCheck %s < %t.90
// RUN: tessera-ptx %t.90 --arch=sm_90,sm_90a,sm_100 --emit=check --max-registers=128 --max-shared=65536 --min-occupancy=0.25 --expect=cp.async.cg.shared.global --expect=cp.async.wait_group --expect=ldmatrix.sync.aligned.m8n8.x4.shared.b16 --expect=cvt.rna.tf32.f32 --expect=mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 --expect=st.global.v --forbid=fma.rn.f32 --forbid=.trans
// RUN: tessera-opt %s -tessera-to-tensor -tessera-to-kernels -tessera-to-plan -tessera-to-loops="target=sm_80 tf32" | tessera-ptx --arch=sm_80 --emit=check --max-registers=128 --max-shared=65536 --expect=cp.async.cg.shared.global --expect=mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// Where there is less shared memory there are three stages, so that two blocks still run side by side.
// RUN: tessera-opt %s -tessera-to-tensor -tessera-to-kernels -tessera-to-plan -tessera-to-loops="target=sm_86 tf32" | tessera-ptx --arch=sm_86,sm_89,sm_120 --emit=check --max-registers=128 --max-shared=49152 --min-occupancy=0.33 --expect=cp.async.cg.shared.global --expect=mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// Unless it is asked for, and before sm_80, nothing is rounded.
// RUN: tessera-opt %s -tessera-to-tensor -tessera-to-kernels -tessera-to-plan -tessera-to-loops=target=sm_90 | tessera-ptx --arch=sm_90 --emit=check --expect=fma.rn.f32 --forbid=mma.sync --forbid=tf32
// RUN: tessera-opt %s -tessera-to-tensor -tessera-to-kernels -tessera-to-plan -tessera-to-loops="target=sm_75 tf32" | tessera-ptx --arch=sm_75 --emit=check --expect=fma.rn.f32 --forbid=mma.sync

// CHECK: gpu.func @gemm
// CHECK-SAME: tessera.launch = 1024 : i64
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.wait.group 2
// CHECK: nvvm.ldmatrix
// CHECK: nvvm.convert.float.to.tf32
// CHECK: nvvm.mma.sync
func.func @main(%a: tensor<4096x2048xf32>, %b: tensor<2048x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>} : (tensor<4096x2048xf32>, tensor<2048x4096xf32>) -> tensor<4096x4096xf32>
  return %0 : tensor<4096x4096xf32>
}
