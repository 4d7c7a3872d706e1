// Derivatives of recorded programs: forward mode, and reverse mode as the
// transpose of the linearised program.
#ifndef TESSERA_TRANSFORMS_AUTODIFF_H
#define TESSERA_TRANSFORMS_AUTODIFF_H

#include "dialects/Tessera/IR/Tessera.h"

namespace tessera::ir {

/// The ops between `inputs` and `outputs`, in an order in which operands come
/// first: those that outputs depend on and that depend on an input. `inputs`
/// themselves are not searched further. Iterative, for programs of any depth.
llvm::SmallVector<mlir::Operation *> dependentOps(mlir::ValueRange outputs,
                                                  mlir::ValueRange inputs);

/// Builds the tangents of `outputs` from the tangents of `inputs`
/// (Jacobian-vector product). A null value is zero.
llvm::SmallVector<mlir::Value> buildJvp(mlir::OpBuilder &builder,
                                        mlir::ValueRange outputs,
                                        mlir::ValueRange inputs,
                                        mlir::ValueRange tangents);

/// Builds the cotangents of `inputs` from the cotangents of `outputs`
/// (vector-Jacobian product). An input is null where its cotangent is zero.
/// Source: linearise, then transpose (Frostig et al., "Decomposing reverse-mode
/// automatic differentiation", 2021).
llvm::SmallVector<mlir::Value> buildVjp(mlir::OpBuilder &builder,
                                        mlir::ValueRange outputs,
                                        mlir::ValueRange inputs,
                                        mlir::ValueRange cotangents);

} // namespace tessera::ir

#endif
