// The GPU's kernel emitters: each makes the launch functions of one kernel.
#ifndef TESSERA_LOWERING_GPU_EMIT_H
#define TESSERA_LOWERING_GPU_EMIT_H

#include "dialects/Tessera/IR/Tessera.h"
#include "lowering/CodeGen/Target.h"

namespace tessera::lowering::simt {

/// Adds the launch functions of `kernel` to the gpu.module of `module`, as
/// cpu::emitKernel() does for the CPU. Emits an error on a kernel that its
/// kind's emitter does not cover.
llvm::LogicalResult emitKernel(ir::KernelOp kernel, llvm::StringRef name,
                               const TargetInfo &target, mlir::ModuleOp module);

llvm::LogicalResult emitLoop(ir::KernelOp kernel, llvm::StringRef name,
                             mlir::ModuleOp module);
llvm::LogicalResult emitRowReduce(ir::KernelOp kernel, llvm::StringRef name,
                                  mlir::ModuleOp module);
llvm::LogicalResult emitColReduce(ir::KernelOp kernel, llvm::StringRef name,
                                  mlir::ModuleOp module);
llvm::LogicalResult emitGemm(ir::KernelOp kernel, llvm::StringRef name,
                             const TargetInfo &target, mlir::ModuleOp module);

} // namespace tessera::lowering::simt

#endif
