// Which ops the files of a folder use.
#ifndef TESSERA_TEST_NUMERICS_COVERAGE_H
#define TESSERA_TEST_NUMERICS_COVERAGE_H

#include "mlir/IR/MLIRContext.h"

namespace tessera::numerics {

/// Succeeds if the .mlir files of `folder` hold every op of the dialect that
/// has a value; prints those that they lack.
mlir::LogicalResult coversEveryOp(mlir::MLIRContext &context,
                                  llvm::StringRef folder);

} // namespace tessera::numerics

#endif
