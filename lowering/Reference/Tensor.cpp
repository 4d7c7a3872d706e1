// Indices of tensors.
#include "lowering/Reference/Tensor.h"

using namespace mlir;

namespace tessera::lowering::reference {

int64_t positionOf(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  int64_t position = 0;
  for (auto [i, size] : llvm::zip_equal(index, shape))
    position = position * size + i;
  return position;
}

void forEachIndex(ArrayRef<int64_t> shape,
                  llvm::function_ref<void(ArrayRef<int64_t>, int64_t)> fn) {
  Index index(shape.size(), 0);
  int64_t count = ShapedType::getNumElements(shape);
  for (int64_t position = 0; position < count; ++position) {
    fn(index, position);
    for (size_t dim = shape.size(); dim-- > 0;) {
      if (++index[dim] < shape[dim])
        break;
      index[dim] = 0;
    }
  }
}

SmallVector<int64_t> sizesOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  return llvm::map_to_vector(dims, [&](int64_t dim) { return shape[dim]; });
}

SmallVector<int64_t> otherDims(int64_t rank, ArrayRef<int64_t> a,
                               ArrayRef<int64_t> b) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(a, dim) && !llvm::is_contained(b, dim))
      dims.push_back(dim);
  return dims;
}

} // namespace tessera::lowering::reference
