// Ops of the interpreter that move elements: each says where an element of the
// result comes from.
#include "lowering/Reference/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering::reference {

/// A tensor whose element at each index is the element of `x` at
/// `source(index)`.
template <typename Fn>
static Tensor gather(Type type, const Tensor &x, Fn source) {
  Tensor result(type);
  forEachIndex(result.shape(), [&](ArrayRef<int64_t> index, int64_t at) {
    result.copyElement(at, x, positionOf(source(index), x.shape()));
  });
  return result;
}

/// Writes each element of `x` into `result` at `target(index)`.
template <typename Fn>
static void scatter(Tensor &result, const Tensor &x, Fn target) {
  forEachIndex(x.shape(), [&](ArrayRef<int64_t> index, int64_t at) {
    result.copyElement(positionOf(target(index), result.shape()), x, at);
  });
}

static Tensor broadcast(BroadcastOp op, const Tensor &x) {
  return gather(op.getType(), x, [&](ArrayRef<int64_t> index) {
    Index source;
    for (auto [size, dim] : llvm::zip(x.shape(), op.getDims()))
      source.push_back(size == 1 ? 0 : index[dim]);
    return source;
  });
}

static Tensor transpose(TransposeOp op, const Tensor &x) {
  return gather(op.getType(), x, [&](ArrayRef<int64_t> index) {
    Index source(index.size());
    for (auto [i, dim] : llvm::zip(index, op.getPermutation()))
      source[dim] = i;
    return source;
  });
}

static Tensor slice(SliceOp op, const Tensor &x) {
  return gather(op.getType(), x, [&](ArrayRef<int64_t> index) {
    Index source;
    for (auto [i, start, stride] :
         llvm::zip(index, op.getStarts(), op.getStrides()))
      source.push_back(start + i * stride);
    return source;
  });
}

static Tensor pad(PadOp op, const Tensor &x, const Tensor &value) {
  Tensor result =
      gather(op.getType(), value, [](ArrayRef<int64_t>) { return Index(); });
  scatter(result, x, [&](ArrayRef<int64_t> index) {
    Index target;
    for (auto [i, low, interior] :
         llvm::zip(index, op.getLow(), op.getInterior()))
      target.push_back(low + i * (interior + 1));
    return target;
  });
  return result;
}

static Tensor concat(ConcatOp op, Operands inputs) {
  Tensor result(op.getType());
  int64_t dim = op.getDim(), offset = 0;
  for (const Tensor *input : inputs) {
    scatter(result, *input, [&](ArrayRef<int64_t> index) {
      Index target(index);
      target[dim] += offset;
      return target;
    });
    offset += input->shape()[dim];
  }
  return result;
}

/// The starts of a block, each moved so that the block lies inside the tensor.
static Index blockStarts(Operands starts, ArrayRef<int64_t> whole,
                         ArrayRef<int64_t> block) {
  Index result;
  for (auto [start, size, part] : llvm::zip(starts, whole, block))
    result.push_back(
        std::clamp<int64_t>(start->as<int64_t>()[0], 0, size - part));
  return result;
}

static Index offsetBy(ArrayRef<int64_t> index, ArrayRef<int64_t> starts) {
  Index sum(index);
  for (auto [i, start] : llvm::zip(sum, starts))
    i += start;
  return sum;
}

static Tensor dynamicSlice(DynamicSliceOp op, Operands operands) {
  const Tensor &x = *operands[0];
  Index starts =
      blockStarts(operands.drop_front(1), x.shape(), op.getType().getShape());
  return gather(op.getType(), x, [&](ArrayRef<int64_t> index) {
    return offsetBy(index, starts);
  });
}

static Tensor dynamicUpdateSlice(DynamicUpdateSliceOp op, Operands operands) {
  const Tensor &update = *operands[1];
  Tensor result = *operands[0];
  Index starts =
      blockStarts(operands.drop_front(2), result.shape(), update.shape());
  scatter(result, update,
          [&](ArrayRef<int64_t> index) { return offsetBy(index, starts); });
  return result;
}

std::optional<Tensor> evaluateShape(Operation *op, Operands operands) {
  auto same = [&](auto op) { return Tensor(op.getType(), operands[0]->raw()); };
  return llvm::TypeSwitch<Operation *, std::optional<Tensor>>(op)
      .Case<ReshapeOp, IdentityOp, StopGradientOp>(same)
      .Case([&](BroadcastOp op) { return broadcast(op, *operands[0]); })
      .Case([&](TransposeOp op) { return transpose(op, *operands[0]); })
      .Case([&](SliceOp op) { return slice(op, *operands[0]); })
      .Case([&](PadOp op) { return pad(op, *operands[0], *operands[1]); })
      .Case([&](ConcatOp op) { return concat(op, operands); })
      .Case([&](DynamicSliceOp op) { return dynamicSlice(op, operands); })
      .Case([&](DynamicUpdateSliceOp op) {
        return dynamicUpdateSlice(op, operands);
      })
      .Default([](auto) { return std::nullopt; });
}

} // namespace tessera::lowering::reference
