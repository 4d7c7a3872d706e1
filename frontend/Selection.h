// An index applied to a shape: which elements, and the shape they take.
#pragma once

#include "frontend/Recording.h"
#include "tessera/Index.h"

namespace tessera::detail {

/// The elements of one dimension that an index selects.
struct Range {
  int64_t start = 0, size = 0, step = 1;
  bool isWhole = false;       ///< all of the dimension
  const Tensor *at = nullptr; ///< the start, where it is a tensor
};

struct Selection {
  llvm::SmallVector<Range> ranges; ///< one for each dimension of the tensor
  Shape shape; ///< of the result: without integers, with new axes

  /// Whether all steps are 1, so that the elements are one block.
  bool isBlock() const;
  Shape blockShape() const;
};

/// Throws IndexError for a position outside the tensor, or too many items.
Selection select(Recording &r, std::span<const Index> items, const Tensor &x);

} // namespace tessera::detail
