// Ops that have no intrinsic stay ops until the PTX is made, since the emulator runs the ops.
// RUN: tessera-opt %s --tessera-lower-to-nvvm=arch=sm_90 | FileCheck %s --check-prefix=NVVM
// RUN: tessera-ptx %s --arch=sm_90 | FileCheck %s
// NVVM: nvvm.mbarrier.try_wait.parity
// CHECK: mbarrier.try_wait.parity
gpu.module @kernels {
  gpu.func @wait(%phase: i32)
      workgroup(%barrier : memref<1xi64, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %at = memref.extract_aligned_pointer_as_index %barrier : memref<1xi64, #gpu.address_space<workgroup>> -> index
    %at64 = arith.index_cast %at : index to i64
    %pointer = llvm.inttoptr %at64 : i64 to !llvm.ptr<3>
    %ticks = arith.constant 1000 : i32
    nvvm.mbarrier.try_wait.parity %pointer, %phase, %ticks : !llvm.ptr<3>, i32, i32
    gpu.return
  }
}
