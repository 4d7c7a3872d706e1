// A sum of everything: levels of launches, with 128-bit loads.
// RUN: tessera-opt %s --tessera-to-tensor --tessera-to-kernels --tessera-to-plan --tessera-to-loops=target=sm_80 -o %t
// RUN: tessera-ptx %t --arch=all --emit=check --max-registers=64 --expect='ld.global.v4.b32|ld.global.v2.b64' --expect=shfl.sync --forbid=bar.sync --forbid=.local
// RUN: tessera-ptx %t --arch=sm_80 --emit=check | FileCheck %s
// CHECK-COUNT-3: sm_80: col_reduce

func.func @main(%x: tensor<4096x1024xf32>) -> tensor<f32> {
  %0 = tessera.reduce sum, %x {dims = array<i64: 0, 1>} : tensor<4096x1024xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
