// Views of elements as formulas.
#pragma once

#include "frontend/Recording.h"

namespace tessera::detail {

/// The elements starts[i] + k * strides[i] of each dimension, sizes[i] of them.
ir::Expr slice(ir::Expr x, llvm::ArrayRef<int64_t> starts,
               llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides);
/// Positions [start, start + size) of one dimension.
ir::Expr slice(ir::Expr x, int64_t dim, int64_t start, int64_t size);
ir::Expr concat(llvm::ArrayRef<ir::Expr> parts, int64_t dim);

/// Part of the first dimension of a materialised tensor without history, as a
/// view of its bytes; without that dimension if `drop`. Nothing for others.
std::optional<Tensor> leadingView(const Tensor &x, int64_t start, int64_t size,
                                  bool drop);

} // namespace tessera::detail
