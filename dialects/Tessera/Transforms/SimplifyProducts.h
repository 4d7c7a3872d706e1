// Products in the form that kernels take.
#ifndef TESSERA_TRANSFORMS_SIMPLIFYPRODUCTS_H
#define TESSERA_TRANSFORMS_SIMPLIFYPRODUCTS_H

#include "dialects/Tessera/IR/Tessera.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera::ir {

/// Brings products into the form that kernels take: transposes of operands
/// become dimension numbers, a product without a free right dimension becomes
/// the sum that the contract defines it as, and each operand's dimensions are
/// grouped as batch, then free and contracted in one of the two orders.
void simplifyProducts(mlir::func::FuncOp function);

/// The groups of an operand's dimensions in a dot_general.
struct ProductDims {
  llvm::SmallVector<int64_t> batch, free, contract;
  /// Whether the operand is laid out as batch, contract, free (true) or batch,
  /// free, contract (false), dimensions in order; null if it is neither.
  std::optional<bool> contractFirst;
  int64_t batchSize = 1, freeSize = 1, contractSize = 1;
};
ProductDims productDims(DotGeneralOp op, unsigned operand);

} // namespace tessera::ir

#endif
