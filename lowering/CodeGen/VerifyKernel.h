// Checks a kernel module, once its math is expanded, for ops that LLVM would
// round or call in a way of its own.
#pragma once
#include "lowering/CodeGen/Target.h"
#include "mlir/IR/BuiltinOps.h"

namespace tessera::lowering {

/// Fails with a diagnostic at the op for: a math op that is more than one
/// instruction on this target; arithmetic in f16 or bf16; a conversion to or
/// from them that is a library call, or that treats denormals otherwise; an op
/// with fast-math flags; an op of a dialect that kernel modules must not use.
llvm::LogicalResult verifyKernelModule(mlir::ModuleOp module,
                                       const TargetInfo &target);

} // namespace tessera::lowering
