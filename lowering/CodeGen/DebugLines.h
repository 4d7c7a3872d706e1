// Locations of a module of the LLVM dialect as debug information: which of the
// user's lines the code comes from.
#pragma once
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace tessera::lowering {

/// Gives every function a scope, and every op the user's file and line; what
/// upstream's translation to LLVM IR then makes of them is what `kind` says. A
/// function and its ops may come from different files.
void addDebugLines(mlir::ModuleOp module,
                   mlir::LLVM::DIEmissionKind kind =
                       mlir::LLVM::DIEmissionKind::LineTablesOnly);

} // namespace tessera::lowering
