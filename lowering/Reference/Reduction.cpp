// Reductions of the interpreter.
#include "lowering/Reference/Tensor.h"
#include "lowering/Reference/Tree.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering::reference {

/// Position of the first NaN, else of the first maximum.
template <typename C> static int64_t argmax(ArrayRef<C> values) {
  size_t best = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if constexpr (std::floating_point<C>)
      if (std::isnan(values[i]))
        return i;
    if (values[i] > values[best])
      best = i;
  }
  return best;
}

template <typename C>
static C reduceValues(Reduction reduction, ArrayRef<C> values) {
  auto fold = [&](auto fn) {
    C result = values.front();
    for (C value : values)
      result = fn(result, value);
    return result;
  };
  switch (reduction) {
  case Reduction::sum:
    return sumTree(values);
  case Reduction::prod:
    return productTree(values);
  case Reduction::max:
    return fold(greater<C>);
  case Reduction::min:
    return fold(lesser<C>);
  case Reduction::argmax:
    break;
  }
  llvm_unreachable("argmax has a result of another type");
}

template <typename T>
static Tensor evaluateReduce(ReduceOp op, const Tensor &x) {
  Tensor result(op.getType());
  SmallVector<Compute<T>> rows = elementsAlong<T>(
      x, {otherDims(x.shape().size(), op.getDims()), op.getDims()});
  int64_t count = ShapedType::getNumElements(sizesOf(x.shape(), op.getDims()));
  for (int64_t i = 0; i < result.size(); ++i) {
    auto row = ArrayRef(rows).slice(i * count, count);
    if (op.getReduction() == Reduction::argmax)
      result.as<int64_t>()[i] = argmax(row);
    else
      result.as<T>()[i] = static_cast<T>(reduceValues(op.getReduction(), row));
  }
  return result;
}

std::optional<Tensor> evaluateReduction(Operation *op, Operands operands) {
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce)
    return std::nullopt;
  return withElementType(operands[0]->element(), [&](auto tag) {
    return evaluateReduce<decltype(tag)>(reduce, *operands[0]);
  });
}

} // namespace tessera::lowering::reference
