// Makes a failing program small.
#ifndef TESSERA_TEST_FUZZ_REDUCE_H
#define TESSERA_TEST_FUZZ_REDUCE_H

#include "mlir/IR/BuiltinOps.h"

namespace tessera::fuzz {

/// The smallest program found for which `fails` still holds: results dropped,
/// ops replaced by an operand or a new argument, sizes made smaller. `fails`
/// must hold for the program given.
mlir::OwningOpRef<mlir::ModuleOp>
reduceProgram(mlir::ModuleOp module,
              llvm::function_ref<bool(mlir::ModuleOp)> fails);

} // namespace tessera::fuzz

#endif
