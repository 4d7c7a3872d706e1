// Rows of a number of elements that 16 bytes do not divide are read through registers.
// RUN: tessera-opt %s -tessera-to-tensor -tessera-to-kernels -tessera-to-plan -tessera-to-loops=target=sm_80 | tessera-ptx --arch=sm_80 --emit=check --max-registers=128 --expect=mma.sync --expect=ld.global.v2.b32 --expect=cp.async.cg.shared.global
func.func @main(%a: tensor<200x100xbf16>, %b: tensor<100x320xbf16>) -> tensor<200x320xbf16> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>} : (tensor<200x100xbf16>, tensor<100x320xbf16>) -> tensor<200x320xbf16>
  return %0 : tensor<200x320xbf16>
}
