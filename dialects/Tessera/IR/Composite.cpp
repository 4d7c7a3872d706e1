// Composites: tangent formulas, and the programs of primitives that define
// their values.
#include "dialects/Tessera/IR/Expr.h"
#include "dialects/Tessera/IR/StandIns.h"

using namespace mlir;

namespace tessera::ir {

/// Softmax ops keep the type; their dimension lies inside it.
static LogicalResult inferAlongDim(StringRef name, std::optional<Location> loc,
                                   ValueRange operands,
                                   DictionaryAttr attributes,
                                   SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(operands[0].getType());
  int64_t dim = attributes.getAs<IntegerAttr>("dim").getInt();
  if (dim < 0 || dim >= type.getRank())
    return emitOptionalError(loc, "[", name, "] has no dimension ", dim, ": ",
                             typeText(type));
  types.push_back(type);
  return success();
}

/// x - max(x) along `dim`; the shift has no tangent of its own, since it
/// cancels.
static Expr shifted(Expr x, int64_t dim) {
  return x - expand(reduce(Reduction::max, x, dim), x.type(), dim);
}

LogicalResult SoftmaxOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> loc,
                                          ValueRange operands,
                                          DictionaryAttr attributes,
                                          OpaqueProperties, RegionRange,
                                          SmallVectorImpl<Type> &types) {
  return inferAlongDim("softmax", loc, operands, attributes, types);
}

Value SoftmaxOp::jvp(OpBuilder &builder, ValueRange tangents) {
  if (!tangents[0])
    return {};
  int64_t dim = getDim();
  Expr y(builder, getLoc(), getY()), t(builder, getLoc(), tangents[0]);
  Expr mean = reduce(Reduction::sum, t * y, dim);
  return ((t - expand(mean, y.type(), dim)) * y).value();
}

Value SoftmaxOp::decompose(OpBuilder &builder) {
  int64_t dim = getDim();
  Expr x(builder, getLoc(), getX());
  if (x.type().getNumElements() == 0)
    return getX();
  Expr e = exp(shifted(x, dim));
  // One division a row: it takes as long as the rest of an element.
  Expr sum = reduce(Reduction::sum, e, dim);
  return (e * expand(sum.full(1) / sum, x.type(), dim)).value();
}

LogicalResult LogSoftmaxOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> loc,
                                             ValueRange operands,
                                             DictionaryAttr attributes,
                                             OpaqueProperties, RegionRange,
                                             SmallVectorImpl<Type> &types) {
  return inferAlongDim("log_softmax", loc, operands, attributes, types);
}

Value LogSoftmaxOp::jvp(OpBuilder &builder, ValueRange tangents) {
  if (!tangents[0])
    return {};
  int64_t dim = getDim();
  Expr y(builder, getLoc(), getY()), t(builder, getLoc(), tangents[0]);
  return (t - expand(reduce(Reduction::sum, t * exp(y), dim), y.type(), dim))
      .value();
}

Value LogSoftmaxOp::decompose(OpBuilder &builder) {
  int64_t dim = getDim();
  Expr x(builder, getLoc(), getX());
  if (x.type().getNumElements() == 0)
    return getX();
  Expr d = shifted(x, dim);
  return (d - expand(log(reduce(Reduction::sum, exp(d), dim)), x.type(), dim))
      .value();
}

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> loc,
                                               ValueRange operands,
                                               DictionaryAttr, OpaqueProperties,
                                               RegionRange,
                                               SmallVectorImpl<Type> &types) {
  auto logits = cast<RankedTensorType>(operands[0].getType()),
       labels = cast<RankedTensorType>(operands[1].getType());
  if (logits.getRank() == 0 ||
      logits.getShape().drop_back() != labels.getShape())
    return emitOptionalError(loc,
                             "[cross_entropy] labels need the logits' shape "
                             "without the last dimension: ",
                             typeText(logits), " and ", typeText(labels));
  types.push_back(logits.clone(labels.getShape()));
  return success();
}

/// The labels, in a type that can count the classes, of which the number may be
/// a symbol.
static Expr wideLabels(CrossEntropyOp op, OpBuilder &builder) {
  Expr labels(builder, op.getLoc(), op.getLabels());
  int64_t classes = tensorType(op.getLogits()).getShape().back();
  unsigned width = labels.type().getElementType().getIntOrFloatBitWidth();
  bool fits = !isSymbolic(classes) && llvm::isIntN(width, classes);
  return fits ? labels : convert(labels, builder.getI64Type());
}

/// One where the class is the label.
static Expr isLabel(CrossEntropyOp op, OpBuilder &builder) {
  auto type = tensorType(op.getLogits());
  int64_t last = type.getRank() - 1;
  Expr labels = wideLabels(op, builder);
  auto positions = type.clone(labels.type().getElementType());
  Expr classes =
      labels.with(IotaOp::create(builder, op.getLoc(), positions, last));
  return classes == expand(labels, type, last);
}

/// Whether a label is one of the classes.
static Expr isKnown(CrossEntropyOp op, OpBuilder &builder) {
  Expr labels = wideLabels(op, builder);
  int64_t classes = tensorType(op.getLogits()).getShape().back();
  auto list = RankedTensorType::get({classes}, builder.getI1Type());
  Expr count = isSymbolic(classes)
                   ? labels.with(ExtentOp::create(builder, op.getLoc(),
                                                  labels.type(), list))
                   : labels.full(double(classes));
  Expr below = labels < count;
  Expr negative = labels < 0.0;
  return labels.with(AndOp::create(
      builder, op.getLoc(), below.type(), below.value(),
      NotOp::create(builder, op.getLoc(), below.type(), negative.value())));
}

Value CrossEntropyOp::jvp(OpBuilder &builder, ValueRange tangents) {
  if (!tangents[0])
    return {};
  auto type = tensorType(getLogits());
  int64_t last = type.getRank() - 1;
  Expr x(builder, getLoc(), getLogits()), t(builder, getLoc(), tangents[0]);
  Expr p =
      x.with(SoftmaxOp::create(builder, getLoc(), type, getLogits(), last));
  return reduce(
             Reduction::sum,
             t * (p - convert(isLabel(*this, builder), type.getElementType())),
             last)
      .value();
}

Value CrossEntropyOp::decompose(OpBuilder &builder) {
  auto type = tensorType(getLogits());
  int64_t last = type.getRank() - 1;
  Expr x(builder, getLoc(), getLogits());
  if (type.getNumElements() == 0)
    return detail::full(builder, getLoc(), tensorType(getY()),
                        std::numeric_limits<double>::quiet_NaN());
  Expr y =
      x.with(LogSoftmaxOp::create(builder, getLoc(), type, getLogits(), last));
  // Exactly one class is the label, so this sum picks its value; zeros
  // elsewhere do not change it.
  Expr picked = reduce(Reduction::sum,
                       select(isLabel(*this, builder), y, y.full(-0.0)), last);
  Expr nan = picked.full(std::numeric_limits<double>::quiet_NaN());
  return select(isKnown(*this, builder), -picked, nan).value();
}

} // namespace tessera::ir
