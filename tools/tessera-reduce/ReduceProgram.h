// Makes a failing program small.
#ifndef TESSERA_TOOLS_REDUCE_REDUCEPROGRAM_H
#define TESSERA_TOOLS_REDUCE_REDUCEPROGRAM_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tessera {

/// A unit attribute of `main`: the fault is looked for in the derivatives too.
/// Reduction tries to do without it.
inline constexpr char kGradient[] = "fuzz.gradient";

/// The smallest program found for which `fails` still holds: results dropped,
/// ops replaced by an operand or a new argument, sizes made smaller. `fails`
/// must hold for the program given.
mlir::OwningOpRef<mlir::ModuleOp>
reduceProgram(mlir::ModuleOp module,
              llvm::function_ref<bool(mlir::ModuleOp)> fails);

} // namespace tessera

#endif
