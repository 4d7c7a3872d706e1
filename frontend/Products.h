// The contraction that all products are made of.
#pragma once

#include "frontend/Recording.h"

namespace tessera::detail {

/// Products summed over pairs of dimensions, for each index of the batch
/// dimensions; the result has batch, free dimensions of a, free ones of b.
ir::Expr contract(Recording &r, ir::Expr a, ir::Expr b,
                  llvm::ArrayRef<int64_t> aBatch,
                  llvm::ArrayRef<int64_t> bBatch,
                  llvm::ArrayRef<int64_t> aContract,
                  llvm::ArrayRef<int64_t> bContract);

} // namespace tessera::detail
