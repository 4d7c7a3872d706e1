// Builds the arith, math and vector operations behind the expressions of
// Emitter.h.
#include "lowering/Math/Functions.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tessera::lowering::vmath {

Value Emitter::constant(TypedAttr value) {
  // The head of the outermost block that values may flow down from.
  Block *block = builder.getInsertionBlock();
  for (Operation *parent = block->getParentOp();
       parent && !parent->hasTrait<OpTrait::IsIsolatedFromAbove>();
       parent = block->getParentOp()) {
    if (!parent->getBlock())
      break;
    block = parent->getBlock();
  }
  if (Region *region = block->getParent())
    block = &region->front();
  Value &cached = cache[{block, value}];
  if (!cached) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(block);
    cached = arith::ConstantOp::create(builder, loc, value);
  }
  return cached;
}

Type Val::withElement(Type element) const {
  if (auto vector = dyn_cast<VectorType>(type()))
    return vector.clone(element);
  return element;
}

static Val splat(Val a, TypedAttr scalar) {
  if (auto vector = dyn_cast<VectorType>(a.type()))
    return {a.e, a.e->constant(DenseElementsAttr::get(
                     vector, static_cast<Attribute>(scalar)))};
  return {a.e, a.e->constant(scalar)};
}

Val Val::number(double x) const {
  return splat(*this, FloatAttr::get(element(), x));
}

Val Val::integer(int64_t x) const {
  unsigned width = element().getIntOrFloatBitWidth();
  return splat(
      *this, IntegerAttr::get(element(), APInt(64, uint64_t(x)).trunc(width)));
}

template <typename Op, typename... Args> static Val make(Val a, Args... args) {
  return {a.e, Op::create(a.e->builder, a.e->loc, args...).getResult()};
}

template <typename FloatOp, typename IntOp> static Val binary(Val a, Val b) {
  return a.isFloat() ? make<FloatOp>(a, a.v, b.v) : make<IntOp>(a, a.v, b.v);
}

Val operator+(Val a, Val b) {
  return binary<arith::AddFOp, arith::AddIOp>(a, b);
}
Val operator-(Val a, Val b) {
  return binary<arith::SubFOp, arith::SubIOp>(a, b);
}
Val operator*(Val a, Val b) {
  return binary<arith::MulFOp, arith::MulIOp>(a, b);
}
Val operator/(Val a, Val b) { return make<arith::DivFOp>(a, a.v, b.v); }
Val operator-(Val a) { return make<arith::NegFOp>(a, a.v); }
Val operator&(Val a, Val b) { return make<arith::AndIOp>(a, a.v, b.v); }
Val operator|(Val a, Val b) { return make<arith::OrIOp>(a, a.v, b.v); }
Val operator^(Val a, Val b) { return make<arith::XOrIOp>(a, a.v, b.v); }
Val operator<<(Val a, Val bits) { return make<arith::ShLIOp>(a, a.v, bits.v); }
Val operator>>(Val a, Val bits) { return make<arith::ShRUIOp>(a, a.v, bits.v); }

static Val compare(Val a, Val b, arith::CmpFPredicate onFloats,
                   arith::CmpIPredicate onIntegers) {
  return a.isFloat() ? make<arith::CmpFOp>(a, onFloats, a.v, b.v)
                     : make<arith::CmpIOp>(a, onIntegers, a.v, b.v);
}

Val operator<(Val a, Val b) {
  return compare(a, b, arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt);
}
Val operator<=(Val a, Val b) {
  return compare(a, b, arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle);
}
Val operator>(Val a, Val b) {
  return compare(a, b, arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt);
}
Val operator>=(Val a, Val b) {
  return compare(a, b, arith::CmpFPredicate::OGE, arith::CmpIPredicate::sge);
}
Val equal(Val a, Val b) {
  return compare(a, b, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq);
}
Val notEqual(Val a, Val b) {
  return compare(a, b, arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne);
}

Val fma(Val a, Val b, Val c) {
  if (a.e->target.fma)
    return make<math::FmaOp>(a, a.v, b.v, c.v);
  return a * b + c;
}

/// The rounding error of the f64 product a * b = product, from halves of 26
/// bits whose products are exact.
static Val productError(Val a, Val b, Val product) {
  auto split = [](Val x) -> Pair {
    Val scaled = x * 134217729.0; // 2^27 + 1
    Val hi = scaled - (scaled - x);
    return {hi, x - hi};
  };
  auto [ah, al] = split(a);
  auto [bh, bl] = split(b);
  return ((ah * bh - product) + ah * bl + al * bh) + al * bl;
}

Val fmaExact(Val a, Val b, Val c) {
  if (a.e->target.fma)
    return fma(a, b, c);
  if (a.isF32()) // the product of two f32 is exact in f64
    return narrow(widen(a) * widen(b) + widen(c));
  Val product = a * b;
  return (product + c) + productError(a, b, product);
}

Val select(Val condition, Val yes, Val no) {
  return make<arith::SelectOp>(yes, condition.v, yes.v, no.v);
}

Val abs(Val x) { return make<math::AbsFOp>(x, x.v); }
Val sqrt(Val x) { return make<math::SqrtOp>(x, x.v); }
Val floor(Val x) {
  return x.e->target.rounding ? make<math::FloorOp>(x, x.v) : buildFloor(x);
}
Val copySign(Val magnitude, Val sign) {
  return make<math::CopySignOp>(magnitude, magnitude.v, sign.v);
}

Val bitsOf(Val x) {
  Type integer =
      x.e->builder.getIntegerType(x.element().getIntOrFloatBitWidth());
  return make<arith::BitcastOp>(x, x.withElement(integer), x.v);
}

Val floatOf(Val bits) {
  Builder &b = bits.e->builder;
  Type element = bits.element().isInteger(16)   ? Type(b.getF16Type())
                 : bits.element().isInteger(32) ? Type(b.getF32Type())
                                                : Type(b.getF64Type());
  return make<arith::BitcastOp>(bits, bits.withElement(element), bits.v);
}

Val bf16Of(Val bits) {
  Type type = bits.withElement(bits.e->builder.getBF16Type());
  return make<arith::BitcastOp>(bits, type, bits.v);
}

Val resized(Val bits, unsigned width) {
  Type type = bits.withElement(bits.e->builder.getIntegerType(width));
  if (bits.element().getIntOrFloatBitWidth() < width)
    return make<arith::ExtUIOp>(bits, type, bits.v);
  return make<arith::TruncIOp>(bits, type, bits.v);
}

Val widen(Val x) {
  return make<arith::ExtFOp>(x, x.withElement(x.e->builder.getF64Type()), x.v);
}
Val narrow(Val x) {
  return make<arith::TruncFOp>(x, x.withElement(x.e->builder.getF32Type()),
                               x.v);
}

/// Horner's rule over every `step`-th coefficient from the last one of that
/// class down to `first`.
static Val horner(Val x, ArrayRef<double> coefficients, size_t first,
                  size_t step) {
  size_t k = first + (coefficients.size() - 1 - first) / step * step;
  Val sum = x.number(coefficients[k]);
  for (; k > first; k -= step)
    sum = fma(sum, x, coefficients[k - step]);
  return sum;
}

Val polynomial(Val x, ArrayRef<double> coefficients) {
  if (coefficients.size() < 10)
    return horner(x, coefficients, 0, 1);
  // Horner's rule is one chain of dependent operations. The high powers, where
  // roundings do not show, run as two chains side by side: odd and even powers.
  Val square = x * x;
  ArrayRef<double> high = coefficients.drop_front(2);
  Val sum = fma(horner(square, high, 1, 2), x, horner(square, high, 0, 2));
  return fma(fma(sum, x, coefficients[1]), x, coefficients[0]);
}

Val atMost(Val x, double limit) { return select(x > limit, limit, x); }
Val atLeast(Val x, double limit) { return select(x < limit, limit, x); }

Pair fastTwoSum(Val a, Val b) {
  Val sum = a + b;
  return {sum, b - (sum - a)};
}

Pair twoProduct(Val a, Val b) {
  Val product = a * b;
  if (a.isF32() || a.e->target.fma)
    return {product, fmaExact(a, b, -product)};
  return {product, productError(a, b, product)};
}

const FloatFormat &formatOf(Val x) {
  static const FloatFormat f32 = {23, 127, 0x1.8p23, 0x1p-126};
  static const FloatFormat f64 = {52, 1023, 0x1.8p52, 0x1p-1022};
  return x.isF32() ? f32 : f64;
}

} // namespace tessera::lowering::vmath
