// A large product in f64.
// RUN: tessera-opt %s -tessera-to-tensor -tessera-to-kernels -tessera-to-plan -tessera-to-loops=target=sm_90 -o %t
// RUN: tessera-ptx %t --arch=all --emit=check --max-registers=255 --max-shared=49152 --expect=fma.rn.f64 --expect='ld.global.v2.b64|ld.global.v2.f64'
func.func @main(%a: tensor<2048x1024xf64>, %b: tensor<1024x2048xf64>) -> tensor<2048x2048xf64> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>} : (tensor<2048x1024xf64>, tensor<1024x2048xf64>) -> tensor<2048x2048xf64>
  return %0 : tensor<2048x2048xf64>
}
