// A longer row is that of a block, whose chunks meet in shared memory.
// RUN: tessera-opt %s --tessera-to-tensor --tessera-to-kernels --tessera-to-plan --tessera-to-loops=target=sm_80 -o %t
// RUN: tessera-ptx %t --arch=all --emit=check --max-registers=80 --min-occupancy=0.3 --expect='ld.global.v4.b32|ld.global.v2.b64' --expect='st.global.v4.b32|st.global.v2.b64' --expect=bar.sync --forbid=.local

func.func @main(%x: tensor<64x5000xf32>) -> tensor<64x5000xf32> {
  %0 = tessera.softmax %x {dim = 1 : i64} : tensor<64x5000xf32> -> tensor<64x5000xf32>
  return %0 : tensor<64x5000xf32>
}
