// Tensor expressions: each operator creates one op.
#include "dialects/Tessera/IR/Expr.h"

using namespace mlir;

namespace tessera::ir {

Value detail::full(OpBuilder &builder, Location loc, RankedTensorType type,
                   double number) {
  Type element = type.getElementType();
  TypedAttr value;
  if (auto real = dyn_cast<FloatType>(element)) {
    APFloat converted(number);
    bool inexact;
    converted.convert(real.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                      &inexact);
    value = builder.getFloatAttr(real, converted);
  } else {
    value = builder.getIntegerAttr(element, static_cast<int64_t>(number));
  }
  return ConstantOp::create(builder, loc, type, value);
}

Value detail::addTangents(OpBuilder &builder, Location loc, Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return AddOp::create(builder, loc, a.getType(), a, b);
}

Expr Expr::full(double number) const {
  return with(detail::full(*builder, loc, type(), number));
}

template <typename Op> static Expr same(Expr first, ValueRange operands) {
  return first.with(Op::create(first.at(), first.location(),
                               TypeRange{first.value().getType()}, operands));
}

Expr operator-(Expr x) { return same<NegOp>(x, {x.value()}); }
Expr operator+(Expr a, Expr b) {
  return same<AddOp>(a, {a.value(), b.value()});
}
Expr operator-(Expr a, Expr b) {
  return same<SubOp>(a, {a.value(), b.value()});
}
Expr operator*(Expr a, Expr b) {
  return same<MulOp>(a, {a.value(), b.value()});
}
Expr operator/(Expr a, Expr b) {
  return same<DivOp>(a, {a.value(), b.value()});
}
Expr exp(Expr x) { return same<ExpOp>(x, {x.value()}); }
Expr log(Expr x) { return same<LogOp>(x, {x.value()}); }
Expr sin(Expr x) { return same<SinOp>(x, {x.value()}); }
Expr cos(Expr x) { return same<CosOp>(x, {x.value()}); }
Expr pow(Expr a, Expr b) { return same<PowOp>(a, {a.value(), b.value()}); }

Expr powSlope(Expr a, Expr b) {
  // For b = 0 the slope is 0, but its own derivative over b is not, so that
  // only a base near 0 gives way to a constant.
  Expr base = select(b == 0.0, select(a * a == 0.0, a.one(), a), a);
  return b * pow(base, b - 1.0);
}

Expr compare(Comparison comparison, Expr a, Expr b) {
  return a.with(CompareOp::create(a.at(), a.location(),
                                  a.type().clone(a.at().getI1Type()),
                                  comparison, a.value(), b.value()));
}

Expr select(Expr predicate, Expr a, Expr b) {
  return a.with(SelectOp::create(a.at(), a.location(), a.type(),
                                 predicate.value(), a.value(), b.value()));
}

Expr convert(Expr x, Type element) {
  if (x.type().getElementType() == element)
    return x;
  return x.with(ConvertOp::create(x.at(), x.location(), x.type().clone(element),
                                  x.value()));
}

Expr reduce(Reduction reduction, Expr x, ArrayRef<int64_t> dims) {
  llvm::SmallVector<int64_t> shape;
  for (auto [i, size] : llvm::enumerate(x.type().getShape()))
    if (!llvm::is_contained(dims, int64_t(i)))
      shape.push_back(size);
  Type element = reduction == Reduction::argmax ? x.at().getI64Type()
                                                : x.type().getElementType();
  return x.with(ReduceOp::create(x.at(), x.location(),
                                 RankedTensorType::get(shape, element),
                                 reduction, x.value(), dims));
}

Expr expand(Expr x, RankedTensorType type, ArrayRef<int64_t> dims) {
  llvm::SmallVector<int64_t> kept;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (!llvm::is_contained(dims, i))
      kept.push_back(i);
  return x.with(BroadcastOp::create(x.at(), x.location(),
                                    type.clone(x.type().getElementType()),
                                    x.value(), kept));
}

Expr reshape(Expr x, ArrayRef<int64_t> shape) {
  if (x.type().getShape() == shape)
    return x;
  return x.with(ReshapeOp::create(x.at(), x.location(), x.type().clone(shape),
                                  x.value()));
}

} // namespace tessera::ir
