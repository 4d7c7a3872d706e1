// The pipeline on one page: the stages of a program, each with the contract
// that it ends in.
#ifndef TESSERA_LOWERING_PIPELINE_H
#define TESSERA_LOWERING_PIPELINE_H

#include "dialects/Tessera/IR/Tessera.h"
#include "lowering/CodeGen/CompileKernels.h"
#include "lowering/Stage.h"

namespace tessera::lowering {

// Each takes a module that keeps the contract of the stage before, and leaves
// one that keeps its own and is marked with it.

/// Trace to tensor: composites decomposed, constants folded, common
/// subexpressions merged, products in canonical form.
llvm::LogicalResult toTensorStage(mlir::ModuleOp module);

/// Tensor to kernels: every op in a kernel region.
llvm::LogicalResult toKernelsStage(mlir::ModuleOp module, bool fuse);

/// Kernels to plan: every value has a place in memory.
llvm::LogicalResult toPlanStage(mlir::ModuleOp module);

/// A program of the kernels stage that is this kernel alone, for a look at it
/// by itself. It overwrites none of its inputs.
mlir::OwningOpRef<mlir::ModuleOp> programOf(ir::KernelOp kernel);

/// The jobs that compile the kernels of a plan-stage function, in order.
std::vector<KernelJob> kernelJobs(mlir::func::FuncOp function,
                                  const TargetInfo &target);

} // namespace tessera::lowering

#endif
