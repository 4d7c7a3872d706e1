// Reductions over leading dimensions: neighbouring threads have neighbouring columns; the tree's lanes are warps.
// RUN: tessera-opt %s --tessera-to-tensor --tessera-to-kernels --tessera-to-plan --tessera-to-loops=target=sm_80 -o %t
// RUN: tessera-ptx %t --arch=all --emit=check --max-registers=64 --max-shared=2048 --expect=bar.sync --forbid=.local

func.func @main(%x: tensor<4096x1024xf32>) -> tensor<1024xf32> {
  %0 = tessera.reduce sum, %x {dims = array<i64: 0>} : tensor<4096x1024xf32> -> tensor<1024xf32>
  return %0 : tensor<1024xf32>
}
