// The ops of the dialect, for tests that walk them.
#ifndef TESSERA_TEST_NUMERICS_OPS_H
#define TESSERA_TEST_NUMERICS_OPS_H

#include "dialects/Tessera/IR/Tessera.h"

namespace tessera::numerics {

/// All registered ops of the dialect, by name. MLIRContext's own query by
/// dialect searches a list that is not always sorted, and may find none.
inline llvm::SmallVector<mlir::RegisteredOperationName>
registeredOps(mlir::MLIRContext &context) {
  llvm::SmallVector<mlir::RegisteredOperationName> ops;
  for (mlir::RegisteredOperationName op : context.getRegisteredOperations())
    if (op.getDialectNamespace() == ir::TesseraDialect::getDialectNamespace())
      ops.push_back(op);
  llvm::sort(
      ops, [](auto a, auto b) { return a.getStringRef() < b.getStringRef(); });
  return ops;
}

} // namespace tessera::numerics

#endif
