// Rounding, division with remainder, and shifts, composed of other ops.
#include "frontend/Functions.h"
#include "frontend/Operands.h"
#include "tessera/Elementwise.h"

using namespace mlir;

namespace tessera {
using namespace detail;

// Rounding of floats

/// Floats from here on have no fraction.
static double wholeFrom(Expr x) {
  return x.type().getElementType().isF64() ? 0x1p52 : 0x1p23;
}

/// An integer type that holds all floats with a fraction.
static Type integerFor(Expr x) {
  OpBuilder &builder = x.at();
  return x.type().getElementType().isF64() ? builder.getI64Type()
                                           : builder.getI32Type();
}

/// `rounded` where x has a fraction, else x itself: large values, infinities,
/// NaN, and zeros with their sign.
static Expr unlessWhole(Expr x, Expr rounded) {
  Expr hasFraction = (abs(x) < wholeFrom(x)) & (rounded != x);
  return select(hasFraction, rounded, fixed(x));
}

namespace detail {
Expr floor(Expr x) {
  // The way through an integer also says that the derivative is 0.
  Type element = x.type().getElementType();
  Expr truncated = convert(convert(x, integerFor(x)), element);
  Expr excess = convert(truncated > x, element);
  return unlessWhole(x, truncated - excess);
}
} // namespace detail

static Expr roundToEven(Expr x) {
  Type element = x.type().getElementType();
  Expr below = detail::floor(x);
  Expr distance = fixed(x - below);
  Expr half = distance.full(0.5);
  Expr whole = convert(below, integerFor(x));
  Expr isOdd = (whole & whole.one()) == 1.0;
  Expr up = (distance > half) | ((distance == half) & isOdd);
  Expr rounded = below + convert(up, element);
  // What rounds to zero keeps its sign.
  rounded = select((x < 0.0) & (rounded == 0.0), fixed(-abs(rounded)), rounded);
  return unlessWhole(x, rounded);
}

template <typename F>
static Tensor rounding(const char *name, const Operand &x, F f) {
  Recording r(name, x);
  requireNumbers(r, dtypeFor(x), {&x});
  Expr a = r.expr(x);
  return r.finish(runtime::isFloat(dtypeFor(x)) ? f(a) : a);
}

Tensor floor(const Operand &x) {
  return rounding("floor", x, [](Expr a) { return detail::floor(a); });
}
Tensor ceil(const Operand &x) {
  return rounding("ceil", x, [](Expr a) { return -detail::floor(-a); });
}
Tensor trunc(const Operand &x) {
  return rounding("trunc", x, [](Expr a) {
    Expr isNegative = a < 0.0;
    Expr size = detail::floor(select(isNegative, -a, a));
    return select(isNegative, -size, size);
  });
}
Tensor round(const Operand &x) { return rounding("round", x, roundToEven); }

// Division with remainder

namespace detail {
Expr floorDivideIntegers(Expr x, Expr y) {
  Expr quotient = x / y;
  Expr rest = x - quotient * y;
  Expr isBetween = (rest != 0.0) & ((rest < 0.0) != (y < 0.0)) & (y != 0.0);
  return quotient - convert(isBetween, x.type().getElementType());
}
} // namespace detail

Tensor floor_divide(const Operand &x, const Operand &y) {
  Recording r("floor_divide", x, y);
  DType dtype = commonDType(r, {&x, &y});
  requireNumbers(r, dtype, {&x, &y});
  auto both = together(r, {&x, &y}, dtype);
  if (runtime::isFloat(dtype))
    return r.finish(detail::floor(both[0] / both[1]));
  return r.finish(floorDivideIntegers(both[0], both[1]));
}

Tensor remainder(const Operand &x, const Operand &y) {
  Recording r("remainder", x, y);
  DType dtype = commonDType(r, {&x, &y});
  requireNumbers(r, dtype, {&x, &y});
  auto both = together(r, {&x, &y}, dtype);
  Expr a = both[0], b = both[1];
  if (!runtime::isFloat(dtype)) {
    Expr rest = a - floorDivideIntegers(a, b) * b;
    return r.finish(select(b == 0.0, rest.zero(), rest));
  }
  Expr rest = a - detail::floor(a / b) * b;
  // A quotient that was rounded up to an integer leaves a rest on the wrong
  // side of zero.
  Expr isWrong = (rest < 0.0) & (b > 0.0) | (rest > 0.0) & (b < 0.0);
  return r.finish(select(isWrong, rest + b, rest));
}

// Shifts

namespace {
/// Operands of a shift, the distance limited to the width of the dtype.
struct Shift {
  Expr x, distance;
  int64_t width;
};
} // namespace

static Shift shift(Recording &r, const Operand &x, const Operand &y) {
  DType dtype = commonDType(r, {&x, &y});
  if (runtime::isFloat(dtype) || runtime::isBool(dtype))
    r.fail<TypeError>("only integers are shifted: " + typesText({&x, &y}));
  auto both = together(r, {&x, &y}, dtype);
  int64_t width = int64_t(runtime::bytesOf(dtype)) * 8;
  Expr distance = both[1];
  Expr isInside = (distance >= 0.0) & (distance < double(width));
  return {both[0], select(isInside, distance, distance.full(double(width))),
          width};
}

/// A constant 2^exponent, also where that is the sign bit.
static Expr powerOfTwo(Expr like, int64_t exponent) {
  auto element = cast<IntegerType>(like.type().getElementType());
  auto value = IntegerAttr::get(
      element, APInt::getOneBitSet(element.getWidth(), unsigned(exponent)));
  return like.with(
      ir::ConstantOp::create(like.at(), like.location(), like.type(), value));
}

/// Applies f(x, 2^bit) for each bit of the distance that is set.
template <typename F> static Expr byBits(Shift s, F f) {
  Expr result = s.x;
  for (int64_t bit = 1; bit < s.width; bit *= 2) {
    Expr isSet = (s.distance & s.distance.full(double(bit))) != 0.0;
    result = select(isSet, f(result, powerOfTwo(s.x, bit)), result);
  }
  return result;
}

Tensor bitwise_left_shift(const Operand &x, const Operand &y) {
  Recording r("bitwise_left_shift", x, y);
  Shift s = shift(r, x, y);
  Expr shifted = byBits(s, [](Expr a, Expr power) { return a * power; });
  return r.finish(
      select(s.distance == double(s.width), shifted.zero(), shifted));
}

Tensor bitwise_right_shift(const Operand &x, const Operand &y) {
  Recording r("bitwise_right_shift", x, y);
  Shift s = shift(r, x, y);
  Expr shifted = byBits(
      s, [](Expr a, Expr power) { return floorDivideIntegers(a, power); });
  Expr onlySign = select(s.x < 0.0, s.x.full(-1), s.x.zero());
  return r.finish(select(s.distance == double(s.width), onlySign, shifted));
}

} // namespace tessera
