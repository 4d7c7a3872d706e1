// Derivatives of the ops that move elements: each is linear, so its tangent is
// itself.
#include "dialects/Tessera/IR/Expr.h"

using namespace mlir;

namespace tessera::ir {

/// The op applied to the tangent of its first operand.
template <typename Op>
static Value onTangent(Op op, OpBuilder &builder, Value tangent) {
  if (!tangent)
    return {};
  Operation *copy = builder.clone(*op.getOperation());
  copy->setOperand(0, tangent);
  return copy->getResult(0);
}

Value IdentityOp::jvp(OpBuilder &b, ValueRange t) { return t[0]; }
Value BroadcastOp::jvp(OpBuilder &b, ValueRange t) {
  return onTangent(*this, b, t[0]);
}
Value ReshapeOp::jvp(OpBuilder &b, ValueRange t) {
  return onTangent(*this, b, t[0]);
}
Value TransposeOp::jvp(OpBuilder &b, ValueRange t) {
  return onTangent(*this, b, t[0]);
}
Value SliceOp::jvp(OpBuilder &b, ValueRange t) {
  return onTangent(*this, b, t[0]);
}
Value DynamicSliceOp::jvp(OpBuilder &b, ValueRange t) {
  return onTangent(*this, b, t[0]);
}

/// The op applied to tangents, with zeros for those that are absent among the
/// first `count` operands.
template <typename Op>
static Value onTangents(Op op, OpBuilder &builder, ValueRange tangents,
                        unsigned count) {
  if (llvm::none_of(tangents.take_front(count),
                    [](Value t) { return bool(t); }))
    return {};
  Operation *copy = builder.clone(*op.getOperation());
  OpBuilder before(copy);
  for (unsigned i = 0; i < count; ++i) {
    Value zero;
    if (!tangents[i])
      zero =
          detail::full(before, op.getLoc(), tensorType(op->getOperand(i)), 0.0);
    copy->setOperand(i, tangents[i] ? tangents[i] : zero);
  }
  return copy->getResult(0);
}

Value PadOp::jvp(OpBuilder &b, ValueRange t) {
  return onTangents(*this, b, t, 2);
}
Value ConcatOp::jvp(OpBuilder &b, ValueRange t) {
  return onTangents(*this, b, t, getInputs().size());
}
Value DynamicUpdateSliceOp::jvp(OpBuilder &b, ValueRange t) {
  return onTangents(*this, b, t, 2);
}

SmallVector<Value> IdentityOp::transpose(OpBuilder &, Value ct,
                                         ArrayRef<bool>) {
  return {ct};
}

SmallVector<Value> BroadcastOp::transpose(OpBuilder &builder, Value ct,
                                          ArrayRef<bool>) {
  Expr t(builder, getLoc(), ct);
  auto from = tensorType(getX()), to = tensorType(getY());
  SmallVector<int64_t> repeated;
  for (int64_t dim = 0; dim < to.getRank(); ++dim) {
    auto dims = getDims();
    auto it = llvm::find(dims, dim);
    if (it == dims.end() ||
        from.getDimSize(it - dims.begin()) != to.getDimSize(dim))
      repeated.push_back(dim);
  }
  if (!repeated.empty())
    t = reduce(Reduction::sum, t, repeated);
  return {reshape(t, from.getShape()).value()};
}

SmallVector<Value> ReshapeOp::transpose(OpBuilder &builder, Value ct,
                                        ArrayRef<bool>) {
  return {ReshapeOp::create(builder, getLoc(), getX().getType(), ct)};
}

SmallVector<Value> TransposeOp::transpose(OpBuilder &builder, Value ct,
                                          ArrayRef<bool>) {
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [i, dim] : llvm::enumerate(getPermutation()))
    inverse[dim] = i;
  return {
      TransposeOp::create(builder, getLoc(), getX().getType(), ct, inverse)};
}

/// Turns the dimensions that a slice walks backwards, so that its strides
/// become positive.
static Value reverseDims(OpBuilder &builder, Location loc, Value x,
                         ArrayRef<int64_t> strides) {
  auto type = tensorType(x);
  SmallVector<int64_t> starts(type.getRank(), 0), steps(type.getRank(), 1);
  bool any = false;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (strides[i] < 0 && type.getDimSize(i) > 0) {
      starts[i] = type.getDimSize(i) - 1;
      steps[i] = -1;
      any = true;
    }
  return any ? Value(SliceOp::create(builder, loc, type, x, starts, steps)) : x;
}

SmallVector<Value> SliceOp::transpose(OpBuilder &builder, Value ct,
                                      ArrayRef<bool>) {
  auto from = tensorType(getX()), to = tensorType(getY());
  if (to.getNumElements() == 0)
    return {detail::full(builder, getLoc(), from, 0.0)};
  SmallVector<int64_t> low, high, interior;
  for (int64_t i = 0; i < from.getRank(); ++i) {
    int64_t start = getStarts()[i], stride = getStrides()[i],
            last = start + (to.getDimSize(i) - 1) * stride;
    low.push_back(std::min(start, last));
    high.push_back(from.getDimSize(i) - 1 - std::max(start, last));
    interior.push_back(to.getDimSize(i) > 1 ? std::abs(stride) - 1 : 0);
  }
  Value turned = reverseDims(builder, getLoc(), ct, getStrides());
  Value zero = detail::full(
      builder, getLoc(), RankedTensorType::get({}, from.getElementType()), 0.0);
  return {PadOp::create(builder, getLoc(), from, turned, zero, low, high,
                        interior)};
}

SmallVector<Value> PadOp::transpose(OpBuilder &builder, Value ct,
                                    ArrayRef<bool> linear) {
  auto from = tensorType(getX());
  SmallVector<int64_t> strides;
  for (int64_t amount : getInterior())
    strides.push_back(amount + 1);
  Expr t(builder, getLoc(), ct);
  Value inner;
  if (from.getNumElements() == 0)
    inner = detail::full(builder, getLoc(), from, 0.0);
  else
    inner = SliceOp::create(builder, getLoc(), from, ct, getLow(), strides);
  SmallVector<Value> result(2);
  if (linear[0])
    result[0] = inner;
  if (linear[1]) {
    // The padding's cotangent is what remains once the positions of the operand
    // are cleared.
    Value no = detail::full(builder, getLoc(),
                            RankedTensorType::get({}, builder.getI1Type()), 0);
    Value yes =
        detail::full(builder, getLoc(), from.clone(builder.getI1Type()), 1);
    Value covered =
        PadOp::create(builder, getLoc(), t.type().clone(builder.getI1Type()),
                      yes, no, getLow(), getHigh(), getInterior());
    Expr rest = select(t.with(covered), t.zero(), t);
    result[1] = reduce(Reduction::sum, rest,
                       llvm::to_vector(llvm::seq<int64_t>(0, from.getRank())))
                    .value();
  }
  return result;
}

SmallVector<Value> ConcatOp::transpose(OpBuilder &builder, Value ct,
                                       ArrayRef<bool> linear) {
  SmallVector<Value> result(getInputs().size());
  SmallVector<int64_t> starts(tensorType(ct).getRank(), 0),
      strides(tensorType(ct).getRank(), 1);
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    auto type = tensorType(input);
    if (linear[i])
      result[i] = type.getNumElements() == 0
                      ? detail::full(builder, getLoc(), type, 0.0)
                      : Value(SliceOp::create(builder, getLoc(), type, ct,
                                              starts, strides));
    starts[getDim()] += type.getDimSize(getDim());
  }
  return result;
}

SmallVector<Value> DynamicSliceOp::transpose(OpBuilder &builder, Value ct,
                                             ArrayRef<bool>) {
  SmallVector<Value> result(getNumOperands());
  Value zeros = detail::full(builder, getLoc(), tensorType(getX()), 0.0);
  result[0] = DynamicUpdateSliceOp::create(builder, getLoc(), getX().getType(),
                                           zeros, ct, getStarts());
  return result;
}

SmallVector<Value> DynamicUpdateSliceOp::transpose(OpBuilder &builder, Value ct,
                                                   ArrayRef<bool> linear) {
  SmallVector<Value> result(getNumOperands());
  if (linear[0]) {
    Value zeros = detail::full(builder, getLoc(), tensorType(getUpdate()), 0.0);
    result[0] = DynamicUpdateSliceOp::create(builder, getLoc(), getType(), ct,
                                             zeros, getStarts());
  }
  if (linear[1])
    result[1] = DynamicSliceOp::create(builder, getLoc(), getUpdate().getType(),
                                       ct, getStarts());
  return result;
}

} // namespace tessera::ir
