// Products of bf16 use the instruction of the CPUs that have one, unless k comes from a symbol; what they do instead where
// a sum could be denormal stands beside it.
// RUN: tessera compile %s -o - --emit=asm --target=sapphirerapids | FileCheck %s
// RUN: tessera compile %s -o - --emit=asm --target=znver4 | FileCheck %s
// RUN: tessera compile %s -o - --emit=asm --target=x86-64-v4 | FileCheck %s --check-prefix=WITHOUT
// RUN: tessera compile %s -o - --emit=asm --target=x86-64-v3 | FileCheck %s --check-prefix=WITHOUT

// The least exponents are found where the operands are packed.
// CHECK: vpminuw {{.*}}%zmm
// CHECK-DAG: vdpbf16ps {{.*}}%zmm{{.*}}%zmm{{.*}}%zmm
// CHECK-DAG: vfmadd{{[0-9]+}}ps {{.*}}%zmm
// WITHOUT-NOT: vdpbf16ps
// WITHOUT: vfmadd
// WITHOUT-NOT: vdpbf16ps
func.func @main(%a: tensor<64x255xbf16>, %b: tensor<255x96xbf16>) -> tensor<64x96xbf16> {
  %0 = tessera.dot_general %a, %b {a_batch = array<i64>, b_batch = array<i64>, a_contract = array<i64: 1>, b_contract = array<i64: 0>} : (tensor<64x255xbf16>, tensor<255x96xbf16>) -> tensor<64x96xbf16>
  return %0 : tensor<64x96xbf16>
}
