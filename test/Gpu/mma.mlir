// The instructions of the Gemm: asynchronous copies, ldmatrix, mma.sync on bf16.
// RUN: tessera-ptx %s --arch=sm_80,sm_86,sm_89,sm_90,sm_100,sm_120 --emit=check --expect=cp.async.cg.shared.global --expect=ldmatrix.sync.aligned.m8n8.x4.shared.b16 --expect=mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// Where there is none, the error names it.
// RUN: not tessera-ptx %s --arch=sm_75 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: error: {{.*}}LLVM

gpu.module @kernels {
  gpu.func @tile(%a: memref<4096xbf16> {llvm.noalias}, %out: memref<128xf32> {llvm.noalias})
      workgroup(%tile : memref<1024xbf16, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %c8 = arith.constant 8 : index
    %thread = gpu.thread_id x
    %offset = arith.muli %thread, %c8 : index
    %offset64 = arith.index_cast %offset : index to i64
    %from = memref.extract_aligned_pointer_as_index %a : memref<4096xbf16> -> index
    %from64 = arith.index_cast %from : index to i64
    %source = llvm.inttoptr %from64 : i64 to !llvm.ptr
    %global = llvm.addrspacecast %source : !llvm.ptr to !llvm.ptr<1>
    %gsource = llvm.getelementptr %global[%offset64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
    %to = memref.extract_aligned_pointer_as_index %tile : memref<1024xbf16, #gpu.address_space<workgroup>> -> index
    %to64 = arith.index_cast %to : index to i64
    %shared = llvm.inttoptr %to64 : i64 to !llvm.ptr<3>
    %target = llvm.getelementptr %shared[%offset64] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, bf16
    nvvm.cp.async.shared.global %target, %gsource, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    gpu.barrier
    %fragment = nvvm.ldmatrix %target {num = 4 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
    %a0 = llvm.extractvalue %fragment[0] : !llvm.struct<(i32, i32, i32, i32)>
    %a1 = llvm.extractvalue %fragment[1] : !llvm.struct<(i32, i32, i32, i32)>
    %a2 = llvm.extractvalue %fragment[2] : !llvm.struct<(i32, i32, i32, i32)>
    %a3 = llvm.extractvalue %fragment[3] : !llvm.struct<(i32, i32, i32, i32)>
    %d = nvvm.mma.sync A[%a0, %a1, %a2, %a3] B[%a0, %a1] C[%zero, %zero, %zero, %zero]
      {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>}
      : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %d0 = llvm.extractvalue %d[0] : !llvm.struct<(f32, f32, f32, f32)>
    memref.store %d0, %out[%thread] : memref<128xf32>
    gpu.return
  }
}
