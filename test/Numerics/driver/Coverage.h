// Which ops the files of a folder use.
#ifndef TESSERA_TEST_NUMERICS_COVERAGE_H
#define TESSERA_TEST_NUMERICS_COVERAGE_H

#include "mlir/IR/OperationSupport.h"

namespace tessera::numerics {

/// Whether the op computes something: terminators do not, and a trace's inputs
/// have no value of their own.
bool hasValue(mlir::RegisteredOperationName op);

/// Succeeds if the .mlir files of `folder` hold every op of the dialect that
/// has a value; prints those that they lack.
mlir::LogicalResult coversEveryOp(mlir::MLIRContext &context,
                                  llvm::StringRef folder);

} // namespace tessera::numerics

#endif
