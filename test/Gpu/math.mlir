// Functions become our own arithmetic, with the bits of the CPU: nothing of libdevice, nothing approximate.
// RUN: tessera-ptx %s --arch=sm_80 | FileCheck %s
// RUN: tessera-ptx %s --arch=all --emit=check --expect=fma.rn.f32 --forbid=__nv_

// CHECK-NOT: __nv_
// CHECK-NOT: .approx
// CHECK-NOT: .ftz
// CHECK-NOT: .extern .func
// CHECK: .entry math(
gpu.module @kernels {
  gpu.func @math(%a: memref<1024xf32> {llvm.noalias}, %b: memref<1024xf64> {llvm.noalias})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %i = gpu.thread_id x
    %x = memref.load %a[%i] : memref<1024xf32>
    %exp = math.exp %x : f32
    %log = math.log %exp : f32
    %tanh = math.tanh %log : f32
    %sin = math.sin %tanh : f32
    %erf = math.erf %sin : f32
    %pow = math.powf %erf, %x : f32
    %floor = math.floor %pow : f32
    %even = math.roundeven %floor : f32
    %rsqrt = math.rsqrt %even : f32
    %sign = math.copysign %rsqrt, %x : f32
    memref.store %sign, %a[%i] : memref<1024xf32>
    %y = memref.load %b[%i] : memref<1024xf64>
    %cos = math.cos %y : f64
    %exp64 = math.exp %cos : f64
    memref.store %exp64, %b[%i] : memref<1024xf64>
    gpu.return
  }
}
