// The stages of kernels as passes: a module of loops for each kernel, and the LLVM dialect of one.
// RUN: tessera-opt %s -tessera-to-tensor -tessera-to-kernels=fuse=false -tessera-to-plan -tessera-to-loops=target=x86-64-v3 | FileCheck %s
// RUN: tessera-opt %s -tessera-to-tensor -tessera-to-kernels -tessera-to-plan -tessera-to-loops=target=x86-64-v4 | FileCheck %s --check-prefix=FUSED
// RUN: tessera-opt %s -tessera-to-tensor -tessera-to-kernels -tessera-to-plan -tessera-to-loops=target=x86-64-v3 \
// RUN:   | tessera-opt -pass-pipeline='builtin.module(builtin.module(tessera-to-llvm{cpu=x86-64-v3}))' | FileCheck %s --check-prefix=LLVM
// RUN: not tessera-opt %s -tessera-to-loops 2>&1 | FileCheck %s --check-prefix=STAGE
// RUN: not tessera-opt %s -tessera-to-tensor -tessera-to-kernels -tessera-to-plan -tessera-to-loops=target=pdp11 2>&1 | FileCheck %s --check-prefix=CPU

// CHECK: module attributes {tessera.stage = "loops"}
// CHECK: module @loop_0
// CHECK: func.func @loop
// CHECK-SAME: tessera.launch
// CHECK: arith.mulf {{.*}} vector<8xf32>
// CHECK: module @loop_1
// CHECK: arith.addf {{.*}} vector<8xf32>
// CHECK-NOT: tessera.kernel

// FUSED: module @loop_0
// FUSED: arith.mulf {{.*}} vector<16xf32>
// FUSED: arith.addf {{.*}} vector<16xf32>
// FUSED-NOT: module @

// LLVM: llvm.func internal @loop.body
// LLVM: llvm.fmul {{.*}} vector<8xf32>
// LLVM: llvm.func @loop(

// STAGE: error: 'tessera.mul' op stands outside the kernels
// CPU: error: unknown CPU 'pdp11'
func.func @main(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %0 = tessera.mul %x, %y : tensor<64xf32>
  %1 = tessera.add %0, %y : tensor<64xf32>
  return %1 : tensor<64xf32>
}
