// Shape rules of the ops that move elements.
#include "dialects/Tessera/IR/Tessera.h"

using namespace mlir;

namespace tessera::ir {

/// Reports a broken shape rule with both types.
static LogicalResult wrong(Operation *op, const Twine &what) {
  auto error = op->emitOpError(what);
  error << ": ";
  llvm::interleave(
      op->getOperandTypes(), error, [&](Type t) { error << typeText(t); },
      " and ");
  error << (op->getNumOperands() ? " to " : "")
        << typeText(op->getResult(0).getType());
  return error;
}

static LogicalResult sameElement(Operation *op, Value x, Value y) {
  if (tensorType(x).getElementType() != tensorType(y).getElementType())
    return wrong(op, "changes the element type");
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto from = tensorType(getX()), to = tensorType(getY());
  auto dims = getDims();
  if (int64_t(dims.size()) != from.getRank())
    return wrong(*this,
                 "needs one result dimension for each operand dimension");
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (dim < 0 || dim >= to.getRank() || (i > 0 && dim <= dims[i - 1]))
      return wrong(*this,
                   "has dimensions that do not increase inside the result");
    if (from.getDimSize(i) != to.getDimSize(dim) && from.getDimSize(i) != 1)
      return wrong(*this, "cannot stretch a dimension whose size is not 1");
  }
  return sameElement(*this, getX(), getY());
}

LogicalResult ReshapeOp::verify() {
  auto from = tensorType(getX()), to = tensorType(getY());
  // The sizes that `?` stands for are checked when they are known.
  if (from.hasStaticShape() && to.hasStaticShape() &&
      from.getNumElements() != to.getNumElements())
    return wrong(*this, "changes the number of elements");
  return sameElement(*this, getX(), getY());
}

LogicalResult TransposeOp::verify() {
  auto from = tensorType(getX()), to = tensorType(getY());
  auto permutation = getPermutation();
  if (int64_t(permutation.size()) != from.getRank() ||
      to.getRank() != from.getRank())
    return wrong(*this, "needs a permutation of all dimensions");
  SmallVector<bool> seen(permutation.size());
  for (auto [i, dim] : llvm::enumerate(permutation)) {
    if (dim < 0 || dim >= from.getRank() || seen[dim])
      return wrong(*this, "needs a permutation of all dimensions");
    seen[dim] = true;
    if (to.getDimSize(i) != from.getDimSize(dim))
      return wrong(*this, "has a result whose shape is not the permuted one");
  }
  return sameElement(*this, getX(), getY());
}

LogicalResult SliceOp::verify() {
  auto from = tensorType(getX()), to = tensorType(getY());
  int64_t rank = from.getRank();
  if (int64_t(getStarts().size()) != rank ||
      int64_t(getStrides().size()) != rank || to.getRank() != rank)
    return wrong(*this, "needs a start and a stride for every dimension");
  for (int64_t i = 0; i < rank; ++i) {
    int64_t start = getStarts()[i], stride = getStrides()[i],
            size = to.getDimSize(i), limit = from.getDimSize(i);
    if (stride == 0)
      return wrong(*this, "has a stride of 0");
    if (size == 0 || ShapedType::isDynamic(size) ||
        ShapedType::isDynamic(limit))
      continue;
    int64_t last;
    if (llvm::MulOverflow(size - 1, stride, last) ||
        llvm::AddOverflow(last, start, last) || start < 0 || start >= limit ||
        last < 0 || last >= limit)
      return wrong(*this, "reads outside the operand in dimension " + Twine(i));
  }
  return sameElement(*this, getX(), getY());
}

LogicalResult PadOp::verify() {
  auto from = tensorType(getX()), to = tensorType(getY());
  int64_t rank = from.getRank();
  if (int64_t(getLow().size()) != rank || int64_t(getHigh().size()) != rank ||
      int64_t(getInterior().size()) != rank || to.getRank() != rank ||
      tensorType(getValue()).getRank() != 0)
    return wrong(
        *this,
        "needs a scalar value, and low, high and interior for every dimension");
  for (int64_t i = 0; i < rank; ++i) {
    int64_t size = from.getDimSize(i), low = getLow()[i], high = getHigh()[i],
            interior = getInterior()[i];
    if (low < 0 || high < 0 || interior < 0)
      return wrong(*this, "has a negative amount in dimension " + Twine(i));
    if (ShapedType::isDynamic(size) || to.isDynamicDim(i))
      continue;
    int64_t total = std::max<int64_t>(size - 1, 0);
    if (llvm::MulOverflow(total, interior, total) ||
        llvm::AddOverflow(total, size, total) ||
        llvm::AddOverflow(total, low, total) ||
        llvm::AddOverflow(total, high, total) || total != to.getDimSize(i))
      return wrong(*this,
                   "has a result of another size in dimension " + Twine(i));
  }
  if (failed(sameElement(*this, getValue(), getY())))
    return failure();
  return sameElement(*this, getX(), getY());
}

LogicalResult ConcatOp::verify() {
  auto to = tensorType(getY());
  int64_t dim = getDim(), total = 0;
  bool isKnown = true;
  if (getInputs().empty())
    return wrong(*this, "needs at least one operand");
  if (dim < 0 || dim >= to.getRank())
    return wrong(*this, "has no such dimension");
  for (Value input : getInputs()) {
    auto from = tensorType(input);
    if (from.getRank() != to.getRank())
      return wrong(*this, "has operands of different ranks");
    for (int64_t i = 0; i < to.getRank(); ++i)
      if (i != dim && from.getDimSize(i) != to.getDimSize(i))
        return wrong(*this,
                     "has operands that differ in dimension " + Twine(i));
    isKnown &= !from.isDynamicDim(dim);
    total += from.isDynamicDim(dim) ? 0 : from.getDimSize(dim);
    if (failed(sameElement(*this, input, getY())))
      return failure();
  }
  if (isKnown && !to.isDynamicDim(dim) && total != to.getDimSize(dim))
    return wrong(*this, "has a result of another size");
  return success();
}

/// A block and its starts fit a tensor.
static LogicalResult verifyBlock(Operation *op, RankedTensorType whole,
                                 RankedTensorType block, ValueRange starts) {
  if (block.getRank() != whole.getRank() ||
      int64_t(starts.size()) != whole.getRank())
    return wrong(op, "needs a start for every dimension");
  for (int64_t i = 0; i < whole.getRank(); ++i)
    if (!whole.isDynamicDim(i) && block.getDimSize(i) > whole.getDimSize(i))
      return wrong(op, "has a block larger than the tensor in dimension " +
                           Twine(i));
  for (Value start : starts)
    if (tensorType(start).getRank() != 0)
      return wrong(op, "has a start that is not a scalar");
  return success();
}

LogicalResult DynamicSliceOp::verify() {
  if (failed(sameElement(*this, getX(), getY())))
    return failure();
  return verifyBlock(*this, tensorType(getX()), tensorType(getY()),
                     getStarts());
}

LogicalResult DynamicUpdateSliceOp::verify() {
  if (getX().getType() != getType() ||
      failed(sameElement(*this, getUpdate(), getY())))
    return wrong(*this, "has a result of another type");
  return verifyBlock(*this, tensorType(getX()), tensorType(getUpdate()),
                     getStarts());
}

LogicalResult IotaOp::verify() {
  if (int64_t dim = getDim(); dim < 0 || dim >= tensorType(getY()).getRank())
    return wrong(*this, "has no such dimension");
  return success();
}

LogicalResult ConstantOp::verify() {
  if (getValue().getType() != tensorType(getY()).getElementType())
    return wrong(*this, "has a value of another element type");
  return success();
}

LogicalResult RandomBitsOp::verify() {
  auto key = tensorType(getKey());
  if (key.getRank() != 1 || key.getDimSize(0) != 2)
    return wrong(*this, "needs a key of two words");
  return success();
}

} // namespace tessera::ir
