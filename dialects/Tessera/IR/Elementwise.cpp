// Elementwise ops: type inference, the records' few rules that are longer than
// a line, and their transposes.
#include "dialects/Tessera/IR/Expr.h"
#include "dialects/Tessera/IR/NarrowFloats.h"
#include "dialects/Tessera/IR/ScalarBuilder.h"

using namespace mlir;

namespace tessera::ir {

//===-- compare, select, convert --===//

LogicalResult CompareOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> loc,
                                          ValueRange operands, DictionaryAttr,
                                          OpaqueProperties, RegionRange,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(cast<RankedTensorType>(operands[0].getType())
                      .clone(IntegerType::get(context, 1)));
  return success();
}

Value CompareOp::buildScalar(OpBuilder &builder, Location loc,
                             ValueRange args) {
  return ScalarBuilder(builder, loc).compare(getComparison(), args[0], args[1]);
}

LogicalResult CompareOp::verify() {
  if (tensorType(getY()).getShape() != tensorType(getA()).getShape())
    return emitOpError("has a result of another shape: ")
           << typeText(getA().getType()) << " and " << typeText(getType());
  return success();
}

LogicalResult SelectOp::verify() {
  if (tensorType(getPredicate()).getShape() != tensorType(getY()).getShape())
    return emitOpError("has a predicate of another shape: ")
           << typeText(getPredicate().getType()) << " and "
           << typeText(getType());
  return success();
}

Value SelectOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  return arith::SelectOp::create(builder, loc, args[0], args[1], args[2]);
}

Value SelectOp::jvp(OpBuilder &builder, ValueRange tangents) {
  if (!tangents[1] && !tangents[2])
    return {};
  Value zero = tangents[1] && tangents[2]
                   ? Value()
                   : detail::full(builder, getLoc(), tensorType(getY()), 0.0);
  return SelectOp::create(builder, getLoc(), getType(), getPredicate(),
                          tangents[1] ? tangents[1] : zero,
                          tangents[2] ? tangents[2] : zero);
}

SmallVector<Value> SelectOp::transpose(OpBuilder &builder, Value ct,
                                       ArrayRef<bool> linear) {
  Expr p(builder, getLoc(), getPredicate()), t(builder, getLoc(), ct);
  SmallVector<Value> result(3);
  if (linear[1])
    result[1] = select(p, t, t.zero()).value();
  if (linear[2])
    result[2] = select(p, t.zero(), t).value();
  return result;
}

LogicalResult ConvertOp::verify() {
  if (tensorType(getX()).getShape() != tensorType(getY()).getShape())
    return emitOpError("changes the shape: ")
           << typeText(getX().getType()) << " and " << typeText(getType());
  return success();
}

/// Whether every value of one element type is one of the other.
static bool holds(Type wide, Type element) {
  if (isa<FloatType>(element))
    return isa<FloatType>(wide) &&
           wide.getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth();
  return isa<IntegerType>(wide) &&
         wide.getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth();
}

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  if (getX().getType() == getType())
    return getX();
  auto inner = getX().getDefiningOp<ConvertOp>();
  bool isThereAndBack = inner && inner.getX().getType() == getType() &&
                        holds(tensorType(getX()).getElementType(),
                              tensorType(getY()).getElementType());
  return isThereAndBack ? inner.getX() : Value();
}

Value ConvertOp::buildScalar(OpBuilder &builder, Location loc,
                             ValueRange args) {
  Type from = tensorType(getX()).getElementType(),
       to = tensorType(getY()).getElementType();
  Value x = args[0];
  if (isNarrowFloat(from))
    x = widen(builder, loc, x, from);
  ScalarBuilder s(builder, loc);
  if (!isNarrowFloat(to))
    return s.convert(x, to);
  if (from.isInteger(1))
    x = s.convert(x, builder.getF32Type());
  return roundToNarrow(builder, loc, x, to);
}

static bool isFloatTensor(Value x) {
  return isa<FloatType>(tensorType(x).getElementType());
}

Value ConvertOp::jvp(OpBuilder &builder, ValueRange tangents) {
  if (!tangents[0] || !isFloatTensor(getX()) || !isFloatTensor(getY()))
    return {};
  return ConvertOp::create(builder, getLoc(), getType(), tangents[0]);
}

SmallVector<Value> ConvertOp::transpose(OpBuilder &builder, Value ct,
                                        ArrayRef<bool>) {
  return {ConvertOp::create(builder, getLoc(), getX().getType(), ct)};
}

//===-- Transposes --===//

SmallVector<Value> NegOp::transpose(OpBuilder &builder, Value ct,
                                    ArrayRef<bool>) {
  return {(-Expr(builder, getLoc(), ct)).value()};
}

SmallVector<Value> AddOp::transpose(OpBuilder &, Value ct,
                                    ArrayRef<bool> linear) {
  return {linear[0] ? ct : Value(), linear[1] ? ct : Value()};
}

SmallVector<Value> SubOp::transpose(OpBuilder &builder, Value ct,
                                    ArrayRef<bool> linear) {
  return {linear[0] ? ct : Value(),
          linear[1] ? (-Expr(builder, getLoc(), ct)).value() : Value()};
}

SmallVector<Value> MulOp::transpose(OpBuilder &builder, Value ct,
                                    ArrayRef<bool> linear) {
  assert(!(linear[0] && linear[1]) &&
         "a product of two linear values is not linear");
  Expr t(builder, getLoc(), ct);
  if (linear[0])
    return {(t * t.with(getB())).value(), Value()};
  return {Value(), (t * t.with(getA())).value()};
}

SmallVector<Value> DivOp::transpose(OpBuilder &builder, Value ct,
                                    ArrayRef<bool> linear) {
  assert(linear[0] && !linear[1] &&
         "a quotient is linear in its dividend only");
  Expr t(builder, getLoc(), ct);
  return {(t / t.with(getB())).value(), Value()};
}

} // namespace tessera::ir
