// log, log2, log10 and log1p: the exponent times a constant, plus the logarithm
// of the mantissa.
#include "lowering/Math/Functions.h"
#include <limits>

namespace tessera::lowering::vmath {

namespace {
/// log_b(2^k (1 + f)) = k * log_b(2) + log(1 + f) * scale, each constant in two
/// parts. log2Hi has zeros at its end, so that k * log2Hi is exact.
struct LogBase {
  double log2Hi, log2Lo, scaleHi, scaleLo;
};
struct LogBases {
  LogBase f32, f64;
};
} // namespace

static const LogBases natural = {
    {0x1.62e4p-1, 0x1.7f7d1cp-20, 1, 0},
    {0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45, 1, 0}};
static const LogBases binary = {
    {1, 0, 0x1.715476p0, 0x1.4ae0cp-26},
    {1, 0, 0x1.71547652b82fep0, 0x1.777d0ffda0d24p-56}};
static const LogBases decimal = {
    {0x1.344p-2, 0x1.3509f8p-18, 0x1.bcb7b2p-2, -0x1.5b235ep-27},
    {0x1.34413509f78p-2, 0x1.fef311f12b358p-46, 0x1.bcb7b1526e50ep-2,
     0x1.95355baaafad3p-57}};

// G(f) = (log(1+f) - f) / f^2 on [sqrt(1/2) - 1, sqrt(2) - 1], minimax of the
// error relative to log(1+f), degree 8, coefficients rounded to f32 one by one,
// the rest fitted again: 2^-27.8.
static const double g32[] = {-0x1.fffff8p-2, 0x1.55555p-2,   -0x1.000438p-2,
                             0x1.99a41ep-3,  -0x1.5423ecp-3, 0x1.226c46p-3,
                             -0x1.0f518p-3,  0x1.0876bp-3,   -0x1.381b6ep-4};
// R(z) = (2 atanh(s) - 2 s) / s^3, z = s^2, for s = f / (2 + f): |s| <= 0.1716.
// Minimax of the error relative to 2 s, degree 6, rounded in the same way to
// f64: 2^-59.5.
static const double r64[] = {0x1.5555555555593p-1, 0x1.999999997f9e9p-2,
                             0x1.249249422b7e1p-2, 0x1.c71c51d6a6997p-3,
                             0x1.746649f165562p-3, 0x1.39a08ea022daap-3,
                             0x1.2f11c6542aff7p-3};

/// Splits x = 2^k * m with sqrt(1/2) <= m < sqrt(2); a denormal x is scaled
/// first.
Decomposed decompose(Val x) {
  const FloatFormat &format = formatOf(x);
  int m = format.mantissa;
  Val denormal = x < format.minNormal;
  Val bits = bitsOf(select(denormal, x * double(int64_t(2) << m), x));
  int64_t sqrtHalf = x.isF32() ? 0x3f3504f3 : 0x3fe6a09e667f3bcd;
  // The exponent field of `shifted` is bias + k.
  Val shifted = bits + ((format.bias << m) - sqrtHalf);
  Val fraction = floatOf((shifted & ((int64_t(1) << m) - 1)) + sqrtHalf) - 1;
  // As the low bits of 2^m it is read as a float without a conversion (AVX2 has
  // none from 64-bit integers).
  double unit = double(int64_t(1) << m);
  Val biased = floatOf((shifted >> m) | bitsOf(x.number(unit)));
  double offset = unit + double(format.bias);
  return {biased - select(denormal, x.number(offset + m + 1), x.number(offset)),
          fraction};
}

/// log(1+f) - f.
static Val logTail(Val f) {
  if (f.isF32())
    return f * f * polynomial(f, g32);
  Val s = f / (f + 2);
  Val z = s * s;
  Val halfSquare = f * f * 0.5;
  return s * fma(z, polynomial(z, r64), halfSquare) - halfSquare;
}

/// The logarithm for finite x > 0, with `correction` added to the part that is
/// small.
static Val logOfPositive(Val x, const LogBases &bases,
                         std::optional<Val> correction = std::nullopt) {
  const LogBase &base = x.isF32() ? bases.f32 : bases.f64;
  auto [k, f] = decompose(x);
  Val tail = logTail(f), head = f;
  if (base.scaleHi != 1) {
    Pair product = twoProduct(f, f.number(base.scaleHi));
    head = product.hi;
    tail = fma(tail, base.scaleHi, fma(f, base.scaleLo, product.lo));
  }
  if (base.log2Lo != 0)
    tail = fma(k, base.log2Lo, tail);
  if (correction)
    tail = tail + *correction;
  auto [sum, error] = fastTwoSum(k * base.log2Hi, head);
  return sum + (tail + error);
}

/// `result` where 0 < x < inf; else what IEEE asks for, -inf at 0 and NaN
/// below.
static Val withLogSpecials(Val result, Val x) {
  double infinity = std::numeric_limits<double>::infinity();
  result = select(equal(x, infinity), x, result);
  result = select(equal(x, 0.0), -infinity, result);
  return select(x >= 0.0, result, std::numeric_limits<double>::quiet_NaN());
}

Val buildLog(Val x) { return withLogSpecials(logOfPositive(x, natural), x); }
Val buildLog2(Val x) { return withLogSpecials(logOfPositive(x, binary), x); }
Val buildLog10(Val x) { return withLogSpecials(logOfPositive(x, decimal), x); }

Val buildLog1p(Val x) {
  // u = 1 + x rounded; c is what the rounding lost, and log(u + c) = log(u) + c
  // / u.
  Val u = x + 1;
  Val c = select(x < 1.0, x - (u - 1), 1 - (u - x));
  Val result = withLogSpecials(logOfPositive(u, natural, c / u), u);
  return copySign(result, x);
}

} // namespace tessera::lowering::vmath
