// Scalar bodies by element type: floats round once, integers wrap, no operation
// is undefined.
#include "dialects/Tessera/IR/ScalarBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tessera::ir {

static bool isFloat(Value x) { return isa<FloatType>(getElementTypeOrSelf(x)); }
static bool isBool(Value x) { return getElementTypeOrSelf(x).isInteger(1); }

template <typename FloatOp, typename IntOp>
static Value pick(OpBuilder &b, Location loc, Value x, Value y) {
  if (isFloat(x))
    return FloatOp::create(b, loc, x, y);
  return IntOp::create(b, loc, x, y);
}

Value ScalarBuilder::constant(Type like, double number) {
  Type element = getElementTypeOrSelf(like);
  TypedAttr value;
  if (auto real = dyn_cast<FloatType>(element))
    value = b.getFloatAttr(real, number);
  else
    value = b.getIntegerAttr(element, static_cast<int64_t>(number));
  if (auto vector = dyn_cast<VectorType>(like))
    value = DenseElementsAttr::get(vector, Attribute(value));
  return arith::ConstantOp::create(b, loc, value);
}

Value ScalarBuilder::abs(Value x) {
  if (isFloat(x))
    return math::AbsFOp::create(b, loc, x);
  return arith::MaxSIOp::create(b, loc, x, neg(x));
}
Value ScalarBuilder::neg(Value x) {
  if (isFloat(x))
    return arith::NegFOp::create(b, loc, x);
  return arith::SubIOp::create(b, loc, constant(x.getType(), 0), x);
}
Value ScalarBuilder::bitNot(Value x) {
  return arith::XOrIOp::create(b, loc, x,
                               constant(x.getType(), isBool(x) ? 1 : -1));
}
Value ScalarBuilder::exp(Value x) { return math::ExpOp::create(b, loc, x); }
Value ScalarBuilder::log(Value x) { return math::LogOp::create(b, loc, x); }
Value ScalarBuilder::sqrt(Value x) { return math::SqrtOp::create(b, loc, x); }
Value ScalarBuilder::rsqrt(Value x) { return math::RsqrtOp::create(b, loc, x); }
Value ScalarBuilder::tanh(Value x) { return math::TanhOp::create(b, loc, x); }
Value ScalarBuilder::sin(Value x) { return math::SinOp::create(b, loc, x); }
Value ScalarBuilder::cos(Value x) { return math::CosOp::create(b, loc, x); }
Value ScalarBuilder::erf(Value x) { return math::ErfOp::create(b, loc, x); }
Value ScalarBuilder::pow(Value x, Value y) {
  return math::PowFOp::create(b, loc, x, y);
}
Value ScalarBuilder::add(Value x, Value y) {
  return pick<arith::AddFOp, arith::AddIOp>(b, loc, x, y);
}
Value ScalarBuilder::sub(Value x, Value y) {
  return pick<arith::SubFOp, arith::SubIOp>(b, loc, x, y);
}
Value ScalarBuilder::mul(Value x, Value y) {
  return pick<arith::MulFOp, arith::MulIOp>(b, loc, x, y);
}
Value ScalarBuilder::bitAnd(Value x, Value y) {
  return arith::AndIOp::create(b, loc, x, y);
}
Value ScalarBuilder::bitOr(Value x, Value y) {
  return arith::OrIOp::create(b, loc, x, y);
}
Value ScalarBuilder::bitXor(Value x, Value y) {
  return arith::XOrIOp::create(b, loc, x, y);
}

Value ScalarBuilder::div(Value x, Value y) {
  if (isFloat(x))
    return arith::DivFOp::create(b, loc, x, y);
  // A divisor of 0 or -1 is replaced by 1 before the division, which could trap
  // on either.
  Value zero = constant(y.getType(), 0), one = constant(y.getType(), 1),
        minusOne = constant(y.getType(), -1);
  Value isZero =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, y, zero);
  Value isMinusOne =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, y, minusOne);
  Value special = arith::OrIOp::create(b, loc, isZero, isMinusOne);
  Value quotient = arith::DivSIOp::create(
      b, loc, x, arith::SelectOp::create(b, loc, special, one, y));
  quotient = arith::SelectOp::create(b, loc, isMinusOne, neg(x), quotient);
  return arith::SelectOp::create(b, loc, isZero, zero, quotient);
}

/// The extremum of x and a constant is one comparison and a selection, where
/// arith.maximumf is five instructions: x is the result if the constant is not
/// better, and so if x is NaN. Of two zeros a maximum takes 0, a minimum -0: a
/// constant of that sign wins over an equal x too. Null if the constant is NaN
/// or there is none.
static Value extremumWithConstant(OpBuilder &b, Location loc, bool isMax,
                                  Value x, Value y) {
  using F = arith::CmpFPredicate;
  llvm::APFloat value(0.0);
  if (matchPattern(x, m_ConstantFloat(&value)))
    std::swap(x, y);
  else if (!matchPattern(y, m_ConstantFloat(&value)))
    return {};
  if (value.isNaN())
    return {};
  bool winsTies = value.isZero() && value.isNegative() != isMax;
  F better =
      isMax ? (winsTies ? F::OGE : F::OGT) : (winsTies ? F::OLE : F::OLT);
  Value wins = arith::CmpFOp::create(b, loc, better, y, x);
  return arith::SelectOp::create(b, loc, wins, y, x);
}

Value ScalarBuilder::max(Value x, Value y) {
  if (isBool(x))
    return bitOr(x, y);
  if (Value result = extremumWithConstant(b, loc, /*isMax=*/true, x, y))
    return result;
  return pick<arith::MaximumFOp, arith::MaxSIOp>(b, loc, x, y);
}
Value ScalarBuilder::min(Value x, Value y) {
  if (isBool(x))
    return bitAnd(x, y);
  if (Value result = extremumWithConstant(b, loc, /*isMax=*/false, x, y))
    return result;
  return pick<arith::MinimumFOp, arith::MinSIOp>(b, loc, x, y);
}

Value ScalarBuilder::compare(Comparison comparison, Value x, Value y) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  static constexpr F floats[] = {F::OEQ, F::UNE, F::OLT,
                                 F::OLE, F::OGT, F::OGE};
  static constexpr I integers[] = {I::eq,  I::ne,  I::slt,
                                   I::sle, I::sgt, I::sge};
  static constexpr I bools[] = {I::eq, I::ne, I::ult, I::ule, I::ugt, I::uge};
  auto which = static_cast<unsigned>(comparison);
  if (isFloat(x))
    return arith::CmpFOp::create(b, loc, floats[which], x, y);
  return arith::CmpIOp::create(b, loc, (isBool(x) ? bools : integers)[which], x,
                               y);
}

/// Truncates a float, saturating at the integer's bounds; NaN gives 0.
static Value toInteger(ScalarBuilder &s, OpBuilder &b, Location loc, Value x,
                       Type type) {
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  double limit = std::ldexp(1.0, width - 1);
  Value high = s.constant(x.getType(), limit),
        low = s.constant(x.getType(), -limit);
  Value inside = arith::AndIOp::create(
      b, loc, arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, high),
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE, x, low));
  // The conversion of a value outside is poison, so it converts a zero instead.
  Value safe =
      arith::SelectOp::create(b, loc, inside, x, s.constant(x.getType(), 0));
  Value result = arith::FPToSIOp::create(b, loc, type, safe);
  auto bound = [&](APInt value) -> Value {
    TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(type), value);
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(b, loc, attr);
  };
  Value above =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE, x, high);
  Value below =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, low);
  result = arith::SelectOp::create(
      b, loc, above, bound(APInt::getSignedMaxValue(width)), result);
  return arith::SelectOp::create(
      b, loc, below, bound(APInt::getSignedMinValue(width)), result);
}

Value ScalarBuilder::convert(Value x, Type element) {
  Type from = getElementTypeOrSelf(x);
  if (from == element)
    return x;
  Type type = element;
  if (auto vector = dyn_cast<VectorType>(x.getType()))
    type = vector.clone(element);
  if (element.isInteger(1))
    return compare(Comparison::ne, x, constant(x.getType(), 0));
  bool fromFloat = isa<FloatType>(from), toFloat = isa<FloatType>(element);
  if (fromFloat && toFloat) {
    if (element.getIntOrFloatBitWidth() > from.getIntOrFloatBitWidth())
      return arith::ExtFOp::create(b, loc, type, x);
    return arith::TruncFOp::create(b, loc, type, x);
  }
  if (fromFloat)
    return toInteger(*this, b, loc, x, type);
  if (toFloat) {
    if (from.isInteger(1))
      return arith::UIToFPOp::create(b, loc, type, x);
    return arith::SIToFPOp::create(b, loc, type, x);
  }
  if (element.getIntOrFloatBitWidth() < from.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(b, loc, type, x);
  if (from.isInteger(1))
    return arith::ExtUIOp::create(b, loc, type, x);
  return arith::ExtSIOp::create(b, loc, type, x);
}

Value ScalarBuilder::identity(Reduction reduction, Type like) {
  Type element = getElementTypeOrSelf(like);
  bool real = isa<FloatType>(element);
  switch (reduction) {
  case Reduction::sum:
    return constant(like, real ? -0.0 : 0);
  case Reduction::prod:
    return constant(like, 1);
  case Reduction::max:
  case Reduction::argmax:
  case Reduction::min: {
    bool lowest = reduction != Reduction::min;
    if (real)
      return constant(like, lowest ? -INFINITY : INFINITY);
    unsigned width = element.getIntOrFloatBitWidth();
    if (width == 1)
      return constant(like, lowest ? 0 : 1);
    TypedAttr value =
        b.getIntegerAttr(element, lowest ? APInt::getSignedMinValue(width)
                                         : APInt::getSignedMaxValue(width));
    if (auto vector = dyn_cast<VectorType>(like))
      value = DenseElementsAttr::get(vector, Attribute(value));
    return arith::ConstantOp::create(b, loc, value);
  }
  }
  llvm_unreachable("unknown reduction");
}

Value ScalarBuilder::combine(Reduction reduction, Value x, Value y) {
  switch (reduction) {
  case Reduction::sum:
    return add(x, y);
  case Reduction::prod:
    return mul(x, y);
  case Reduction::max:
    return max(x, y);
  case Reduction::min:
    return min(x, y);
  case Reduction::argmax:
    break;
  }
  llvm_unreachable("argmax carries a position and has no plain combiner");
}

} // namespace tessera::ir
