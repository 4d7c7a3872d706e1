// A product of f16 on tensor cores, which sm_75 has too: eight steps of k at once, and no asynchronous copies.
// RUN: tessera-opt %s -tessera-to-tensor -tessera-to-kernels -tessera-to-plan -tessera-to-loops=target=sm_75 | tessera-ptx --arch=sm_75 --emit=check --max-registers=160 --max-shared=32768 --expect=mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 --expect=ld.global.v4.b32 --forbid=cp.async
// RUN: tessera-opt %s -tessera-to-tensor -tessera-to-kernels -tessera-to-plan -tessera-to-loops=target=sm_90 | tessera-ptx --arch=sm_90 --emit=check --max-registers=128 --expect=mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 --expect=cp.async.cg.shared.global
func.func @main(%a: tensor<1024x4096xf16>, %b: tensor<4096x1024xf16>) -> tensor<4096x4096xf16> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 0>, b_contract = array<i64: 1>} : (tensor<1024x4096xf16>, tensor<4096x1024xf16>) -> tensor<4096x4096xf16>
  return %0 : tensor<4096x4096xf16>
}
