// A block's sum: shuffles, static and dynamic shared memory, a barrier, control flow.
// RUN: tessera-opt %s --tessera-lower-to-nvvm=arch=sm_90 | FileCheck %s --check-prefix=NVVM
// RUN: tessera-ptx %s --arch=sm_90 | FileCheck %s
// RUN: tessera-ptx %s --arch=all --emit=check --max-registers=32

// NVVM-NOT: gpu.module
// NVVM-DAG: llvm.mlir.global external @[[DYNAMIC:.*]]() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
// NVVM-DAG: llvm.mlir.global internal @[[STATIC:.*]]() {addr_space = 3 : i32} : !llvm.array<8 x f32>
// NVVM: llvm.func @sum(%{{.*}}: !llvm.ptr {{{.*}}llvm.noalias
// NVVM-SAME: nvvm.kernel, nvvm.maxntid = array<i32: 256, 1, 1>
// NVVM: nvvm.shfl.sync bfly
// NVVM: nvvm.barrier
// NVVM-NOT: scf.

// CHECK: .extern .shared .align 16 .b8 [[DYNAMIC:[A-Za-z_0-9]+]][];
// CHECK: .shared .align 4 .b8 [[STATIC:[A-Za-z_0-9]+]][32];
// CHECK: shfl.sync.bfly.b32
// CHECK: st.shared.b32
// CHECK: bar.sync 0
gpu.module @kernels {
  gpu.func @sum(%x: memref<1048576xf32> {llvm.noalias}, %out: memref<4096xf32> {llvm.noalias}, %n: index)
      workgroup(%partial : memref<8xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, tessera.launch = 4096 : i64, tessera.shared = 1024 : i64} {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %c8 = arith.constant 8 : index
    %c31 = arith.constant 31 : index
    %c256 = arith.constant 256 : index
    %width = arith.constant 32 : i32
    %block = gpu.block_id x
    %thread = gpu.thread_id x
    %start = arith.muli %block, %c256 : index
    %i = arith.addi %start, %thread : index
    %inside = arith.cmpi ult, %i, %n : index
    %value = scf.if %inside -> f32 {
      %loaded = memref.load %x[%i] : memref<1048576xf32>
      scf.yield %loaded : f32
    } else {
      scf.yield %zero : f32
    }
    %c16 = arith.constant 16 : i32
    %other, %valid = gpu.shuffle xor %value, %c16, %width : f32
    %pair = arith.addf %value, %other : f32
    %dynamic = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %all = memref.view %dynamic[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<256xf32, #gpu.address_space<workgroup>>
    memref.store %pair, %all[%thread] : memref<256xf32, #gpu.address_space<workgroup>>
    %lane = arith.andi %thread, %c31 : index
    %warp = arith.shrui %thread, %c5 : index
    %first = arith.cmpi eq, %lane, %c0 : index
    scf.if %first {
      memref.store %pair, %partial[%warp] : memref<8xf32, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    %leader = arith.cmpi eq, %thread, %c0 : index
    scf.if %leader {
      %sum = scf.for %w = %c0 to %c8 step %c1 iter_args(%s = %zero) -> f32 {
        %p = memref.load %partial[%w] : memref<8xf32, #gpu.address_space<workgroup>>
        %next = arith.addf %s, %p : f32
        scf.yield %next : f32
      }
      memref.store %sum, %out[%block] : memref<4096xf32>
    }
    gpu.return
  }
}
