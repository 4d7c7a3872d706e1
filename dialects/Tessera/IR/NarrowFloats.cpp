// Conversions between the narrow floats and f32, by their bits.
#include "dialects/Tessera/IR/NarrowFloats.h"
#include "dialects/Tessera/IR/ScalarBuilder.h"

using namespace mlir;

namespace tessera::ir {

bool isNarrowFloat(Type element) { return element.isF16() || element.isBF16(); }

Type registerType(Type element) {
  return isNarrowFloat(element) ? IntegerType::get(element.getContext(), 16)
                                : element;
}

Value registerConstant(OpBuilder &b, Location loc, TypedAttr element,
                       int64_t lanes) {
  if (auto real = dyn_cast<FloatAttr>(element);
      real && isNarrowFloat(real.getType()))
    element =
        b.getIntegerAttr(b.getI16Type(), real.getValue().bitcastToAPInt());
  if (lanes > 1)
    element = DenseElementsAttr::get(
        VectorType::get({lanes}, element.getType()), Attribute(element));
  return arith::ConstantOp::create(b, loc, element);
}

namespace {

/// Arithmetic on scalars or vectors of 32-bit words, signed and unsigned.
class Words {
public:
  Words(OpBuilder &b, Location loc, Type like)
      : b(b), loc(loc), vector(dyn_cast<VectorType>(like)) {}

  Type type(Type element) {
    return vector ? Type(vector.clone(element)) : element;
  }
  Type i16() { return type(b.getI16Type()); }
  Type i32() { return type(b.getI32Type()); }
  Type f32() { return type(b.getF32Type()); }

  Value number(uint32_t value) { return number(b.getI32Type(), value); }
  Value number(Type element, uint64_t value) {
    TypedAttr attribute = b.getIntegerAttr(
        element, APInt(64, value).trunc(element.getIntOrFloatBitWidth()));
    if (vector)
      attribute = DenseElementsAttr::get(cast<VectorType>(type(element)),
                                         Attribute(attribute));
    return arith::ConstantOp::create(b, loc, attribute);
  }

  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
  Value bitAnd(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
  Value bitOr(Value x, Value y) { return arith::OrIOp::create(b, loc, x, y); }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value asWord(Value x) { return arith::BitcastOp::create(b, loc, i32(), x); }
  Value asFloat(Value x) { return arith::BitcastOp::create(b, loc, f32(), x); }

  OpBuilder &b;
  Location loc;

private:
  VectorType vector;
};

} // namespace

Value widen(OpBuilder &b, Location loc, Value bits, Type narrow) {
  Words w(b, loc, bits.getType());
  if (narrow.isF16()) {
    Value number = arith::BitcastOp::create(b, loc, w.type(narrow), bits);
    return arith::ExtFOp::create(b, loc, w.f32(), number);
  }
  // No arith.extf: LLVM computes what is extended, and truncated again, in the
  // narrow type. For f16 that gives the same bits; but a product of bf16 can
  // be a denormal f32, which is then rounded twice.
  Value word = arith::ExtUIOp::create(b, loc, w.i32(), bits);
  return w.asFloat(arith::ShLIOp::create(b, loc, word, w.number(16)));
}

/// An f32 that rounds to the same narrow float as this f64 does: the number cut
/// off, with its last bit set if anything was. (Rounding to odd; the f32 has
/// more than two bits more than the narrow float.)
static Value cutToF32(OpBuilder &b, Location loc, Value number) {
  Words w(b, loc, number.getType());
  ScalarBuilder s(b, loc);
  Value nearest = s.convert(number, b.getF32Type());
  Value back = s.convert(nearest, b.getF64Type());
  Value isExact = s.compare(Comparison::eq, back, number);
  // A NaN stays one if its last bits change, for its first does not.
  Value isFurther = s.compare(Comparison::gt, s.abs(back), s.abs(number));
  Value word = w.asWord(nearest);
  Value cut = w.select(isFurther, w.sub(word, w.number(1)), word);
  return w.asFloat(w.select(isExact, word, w.bitOr(cut, w.number(1))));
}

/// An f64 that rounds to the same narrow float as this integer does.
static Value cutToF64(OpBuilder &b, Location loc, Value number) {
  Words w(b, loc, number.getType());
  ScalarBuilder s(b, loc);
  Type i64 = b.getI64Type();
  if (!getElementTypeOrSelf(number).isInteger(64))
    return s.convert(number, b.getF64Type());
  // From 2^53 on, the last 12 bits only tell whether there is more.
  constexpr uint64_t kExact = uint64_t(1) << 53;
  Value low = w.bitAnd(number, w.number(i64, 0xfff));
  Value high = w.bitAnd(number, w.number(i64, ~uint64_t(0xfff)));
  Value more = s.compare(Comparison::ne, low, w.number(i64, 0));
  Value cut =
      w.bitOr(high, w.select(more, w.number(i64, 0x800), w.number(i64, 0)));
  Value isSmall = arith::AndIOp::create(
      b, loc, s.compare(Comparison::lt, number, w.number(i64, kExact)),
      s.compare(Comparison::gt, number, w.number(i64, -kExact)));
  return s.convert(w.select(isSmall, number, cut), b.getF64Type());
}

Value roundToNarrow(OpBuilder &b, Location loc, Value number, Type narrow) {
  if (getElementTypeOrSelf(number).isInteger())
    number = cutToF64(b, loc, number);
  if (getElementTypeOrSelf(number).isF64())
    number = cutToF32(b, loc, number);
  Words w(b, loc, number.getType());
  Value rounded = arith::TruncFOp::create(b, loc, w.type(narrow), number);
  return arith::BitcastOp::create(b, loc, w.i16(), rounded);
}

} // namespace tessera::ir
