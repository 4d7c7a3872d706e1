// The steps of lowering that CPU and GPU kernels share.
#pragma once
#include "lowering/CodeGen/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir {
class LLVMTypeConverter;
}

namespace tessera::lowering {

/// Views, strided slices, transfers and vectors of higher rank become loads,
/// stores and 1-D vectors.
llvm::LogicalResult expandCompoundOps(mlir::ModuleOp module);

/// Structured control flow becomes branches.
llvm::LogicalResult lowerControlFlow(mlir::ModuleOp module);

/// vector.fma and math.fma to one rounding, or, without FMA, to a product and a
/// sum.
void populateFusedMultiplyAddPatterns(const mlir::LLVMTypeConverter &converter,
                                      mlir::RewritePatternSet &patterns,
                                      bool hasFMA);

/// Writes the target's triple and data layout on a module that is lowered.
void setTarget(mlir::ModuleOp module, const TargetInfo &target);

/// Tells LLVM that a kernel's buffers are whole, so that loads from them may be
/// moved up.
void markBufferArguments(mlir::FunctionOpInterface func);

} // namespace tessera::lowering
