// Matrix products of the interpreter.
#include "lowering/Reference/Tensor.h"
#include "lowering/Reference/Tree.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering::reference {

/// Steps of k in one chain of fused multiply-adds; a constant of the
/// floating-point contract.
static constexpr size_t kProductChunk = 512;

/// One chain of fused multiply-adds from +0; integers wrap.
template <typename C> static C chain(ArrayRef<C> a, ArrayRef<C> b) {
  C sum = 0;
  for (auto [x, y] : llvm::zip(a, b)) {
    if constexpr (std::floating_point<C>)
      sum = std::fma(x, y, sum);
    else
      sum = plus(sum, times(x, y));
  }
  return sum;
}

/// Chains over chunks of k, whose results are added in order.
template <typename C> static C sumOfChains(ArrayRef<C> a, ArrayRef<C> b) {
  C sum = chain(a.take_front(kProductChunk), b.take_front(kProductChunk));
  for (size_t k = kProductChunk; k < a.size(); k += kProductChunk) {
    size_t count = std::min(kProductChunk, a.size() - k);
    sum = plus(sum, chain(a.slice(k, count), b.slice(k, count)));
  }
  return sum;
}

/// The sum of the rounded products, by the tree of sums.
template <typename C> static C sumOfProducts(ArrayRef<C> a, ArrayRef<C> b) {
  SmallVector<C> products;
  for (auto [x, y] : llvm::zip(a, b))
    products.push_back(times(x, y));
  return sumTree(ArrayRef<C>(products));
}

static int64_t countOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  return ShapedType::getNumElements(sizesOf(shape, dims));
}

template <typename T>
static Tensor evaluateDot(DotGeneralOp op, const Tensor &a, const Tensor &b) {
  using C = Compute<T>;
  auto aFree = otherDims(a.shape().size(), op.getABatch(), op.getAContract());
  auto bFree = otherDims(b.shape().size(), op.getBBatch(), op.getBContract());
  SmallVector<C> rows =
      elementsAlong<T>(a, {op.getABatch(), aFree, op.getAContract()});
  SmallVector<C> columns =
      elementsAlong<T>(b, {op.getBBatch(), bFree, op.getBContract()});
  int64_t batches = countOf(a.shape(), op.getABatch()),
          k = countOf(a.shape(), op.getAContract());
  int64_t m = countOf(a.shape(), aFree), n = countOf(b.shape(), bFree);

  Tensor result(op.getType());
  for (int64_t batch = 0; batch < batches; ++batch)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        auto row = ArrayRef(rows).slice((batch * m + i) * k, k),
             column = ArrayRef(columns).slice((batch * n + j) * k, k);
        C sum = bFree.empty() ? sumOfProducts(row, column)
                              : sumOfChains(row, column);
        result.as<T>()[(batch * m + i) * n + j] = static_cast<T>(sum);
      }
  return result;
}

std::optional<Tensor> evaluateProduct(Operation *op, Operands operands) {
  auto dot = dyn_cast<DotGeneralOp>(op);
  if (!dot)
    return std::nullopt;
  return withElementType(operands[0]->element(), [&](auto tag) -> Tensor {
    if constexpr (!std::same_as<decltype(tag), bool>)
      return evaluateDot<decltype(tag)>(dot, *operands[0], *operands[1]);
    llvm_unreachable("a product takes numbers only");
  });
}

} // namespace tessera::lowering::reference
