// The CPU's kernel emitters: each makes the launch functions of one kernel.
#ifndef TESSERA_LOWERING_CPU_EMIT_H
#define TESSERA_LOWERING_CPU_EMIT_H

#include "dialects/Tessera/IR/Tessera.h"
#include "lowering/CodeGen/Target.h"

namespace tessera::lowering::cpu {

/// Adds the launch functions of `kernel` to `module`: `name` for the first,
/// `name_1`, ... for those that follow it in order. Emits an error on a kernel
/// that its kind's emitter does not cover.
llvm::LogicalResult emitKernel(ir::KernelOp kernel, llvm::StringRef name,
                               const TargetInfo &target, mlir::ModuleOp module);

llvm::LogicalResult emitLoop(ir::KernelOp kernel, llvm::StringRef name,
                             const TargetInfo &target, mlir::ModuleOp module);
llvm::LogicalResult emitRowReduce(ir::KernelOp kernel, llvm::StringRef name,
                                  const TargetInfo &target,
                                  mlir::ModuleOp module);
llvm::LogicalResult emitColReduce(ir::KernelOp kernel, llvm::StringRef name,
                                  const TargetInfo &target,
                                  mlir::ModuleOp module);
llvm::LogicalResult emitGemm(ir::KernelOp kernel, llvm::StringRef name,
                             const TargetInfo &target, mlir::ModuleOp module);

/// Bytes of a kernel's inputs in memory.
int64_t inputBytes(ir::KernelOp kernel);
/// Whether the outputs are to pass the caches by. They would not stay in the
/// last one until they are read, which it shares with inputs and other cores;
/// written through it, each line would first be read from memory.
bool isStreamed(ir::KernelOp kernel, const TargetInfo &target);

} // namespace tessera::lowering::cpu

#endif
