// f16 and bf16: converted by instructions that round to nearest even and keep denormals, computed in f32.
// RUN: tessera-ptx %s --arch=sm_80 | FileCheck %s
// RUN: tessera-ptx %s --arch=all --emit=check --max-registers=20 --expect=cvt.rn.f16.f32
// CHECK: cvt.f32.bf16
// CHECK: cvt.f32.f16
// CHECK: add.rn.f32
// CHECK: cvt.rn.bf16.f32
gpu.module @kernels {
  gpu.func @narrow(%a: memref<1024xbf16> {llvm.noalias}, %b: memref<1024xf16> {llvm.noalias})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %i = gpu.thread_id x
    %x = memref.load %a[%i] : memref<1024xbf16>
    %xf = arith.extf %x : bf16 to f32
    %y = memref.load %b[%i] : memref<1024xf16>
    %yf = arith.extf %y : f16 to f32
    %s = arith.addf %xf, %yf : f32
    %sb = arith.truncf %s : f32 to bf16
    memref.store %sb, %a[%i] : memref<1024xbf16>
    %sh = arith.truncf %s : f32 to f16
    memref.store %sh, %b[%i] : memref<1024xf16>
    gpu.return
  }
}
