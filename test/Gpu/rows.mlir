// A row of up to 1,024 elements is that of 16 threads, which meet in shuffles; what is costly waits in shared memory.
// RUN: tessera-opt %s --tessera-to-tensor --tessera-to-kernels --tessera-to-plan --tessera-to-loops=target=sm_80 -o %t
// RUN: tessera-ptx %t --arch=all --emit=check --max-registers=96 --max-shared=32768 --expect='ld.global.v4.b32|ld.global.v2.b64' --expect='st.global.v4.b32|st.global.v2.b64' --expect=shfl.sync --expect='ld.shared.v4.b32|ld.shared.v2.b64' --forbid=bar.sync --forbid=.local

func.func @main(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %0 = tessera.softmax %x {dim = 1 : i64} : tensor<4096x1024xf32> -> tensor<4096x1024xf32>
  return %0 : tensor<4096x1024xf32>
}
