// A loop of a program: 128-bit accesses, and few registers.
// RUN: tessera-opt %s --tessera-to-tensor --tessera-to-kernels --tessera-to-plan --tessera-to-loops=target=sm_80 --mlir-print-debuginfo -o %t
// RUN: tessera-ptx %t --arch=all --emit=check --max-registers=32 --min-occupancy=1 --expect='ld.global.v4.b32|ld.global.v2.b64' --expect='st.global.v4.b32|st.global.v2.b64' --forbid=.local
// RUN: tessera-ptx %t --arch=sm_75 --emit=ptx | FileCheck %s

// The user's line is in the code.
// CHECK: .loc {{[0-9]+}} [[#@LINE+4]]
func.func @main(%a: tensor<4096x1024xf32>, %b: tensor<4096x1024xf32>, %c: tensor<1024xf32>) -> tensor<4096x1024xf32> {
  %0 = tessera.broadcast %c {dims = array<i64: 1>} : tensor<1024xf32> -> tensor<4096x1024xf32>
  %1 = tessera.mul %a, %b : tensor<4096x1024xf32>
  %2 = tessera.add %0, %1 : tensor<4096x1024xf32>
  return %2 : tensor<4096x1024xf32>
}
