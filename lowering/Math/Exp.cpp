// exp, exp2 and expm1 by reduction to |r| <= ln(2)/2 and a polynomial.
#include "lowering/Math/Functions.h"

namespace tessera::lowering::vmath {

namespace {
struct ExpTable {
  double ln2Hi, ln2Lo; // ln2Hi has zeros at its end: n * ln2Hi is exact
  double ln2Low;       // ln(2) - (ln(2) rounded to the format)
  double overflow, underflow;
  llvm::ArrayRef<double> q;
};
} // namespace

// Q(r) = (exp(r) - 1 - r) / r^2 on |r| <= 0.5 ln(2) * 1.0005, minimax of the
// error relative to exp(r), coefficients rounded to the format from the lowest
// power on and the rest fitted again. Degree 4: 2^-28.2; degree 9: 2^-57.9.
static const double q32[] = {0x1.fffffcp-2, 0x1.555492p-3, 0x1.5558b0p-5,
                             0x1.12399ep-7, 0x1.6a4efap-10};
static const double q64[] = {0x1.000000000000ap-1,  0x1.555555555550ap-3,
                             0x1.5555555550770p-5,  0x1.1111111124cb2p-7,
                             0x1.6c16c18447245p-10, 0x1.a01a0136ab60dp-13,
                             0x1.a01999e10329fp-16, 0x1.71df0f24f68b3p-19,
                             0x1.28ad8b25360ccp-22, 0x1.ad9ca53497fa2p-26};

static const ExpTable &tableOf(Val x) {
  static const ExpTable f32 = {0x1.62e4p-1, 0x1.7f7d1cp-20, -0x1.05c610p-29,
                               89,          -104,           q32};
  static const ExpTable f64 = {0x1.62e42fefa38p-1,
                               0x1.ef35793c7673p-45,
                               0x1.abc9e3b39803fp-56,
                               710,
                               -746,
                               q64};
  return x.isF32() ? f32 : f64;
}

static constexpr double log2e = 0x1.71547652b82fep0;

/// s with exp(r + low) = 1 + s, for |r| <= ln(2)/2.
static Val reducedExpM1(Val r, std::optional<Val> low) {
  Val q = polynomial(r, tableOf(r).q);
  return low ? r + fma(r * r, q, *low) : fma(r * r, q, r);
}

namespace {
/// x = n ln(2) + r + low, with |low| far below |r|; n as in ScaledExp.
struct Reduced {
  Val n, r, low;
};
} // namespace

static Reduced reduceInTwoParts(Val x, std::optional<Val> low) {
  const ExpTable &table = tableOf(x);
  double magic = formatOf(x).magic;
  Val rounded = fma(x, log2e, x.number(magic));
  Val n = rounded - magic;
  Val rest = low ? fma(n, -table.ln2Lo, *low) : n * -table.ln2Lo;
  auto [hi, lo] = fastTwoSum(fma(n, -table.ln2Hi, x), rest);
  return {bitsOf(rounded), hi, lo};
}

ScaledExp reduceExp(Val x, std::optional<Val> low) {
  if (low) {
    auto [n, r, rest] = reduceInTwoParts(x, low);
    return {n, reducedExpM1(r, rest)};
  }
  const ExpTable &table = tableOf(x);
  double magic = formatOf(x).magic;
  Val rounded = fma(x, log2e, x.number(magic));
  Val n = rounded - magic;
  Val r = fma(n, -table.ln2Lo, fma(n, -table.ln2Hi, x));
  return {bitsOf(rounded), reducedExpM1(r, std::nullopt)};
}

Val powerOfTwo(Val n) {
  Val one = floatOf(n).number(1.0);
  return floatOf((n << formatOf(one).mantissa) + bitsOf(one));
}

Val scaleByPowerOfTwo(Val x, Val n) {
  // Products, not sums of exponents: those would make a number of a NaN.
  Val half = n >> 1;
  return x * powerOfTwo(half) * powerOfTwo(n - half);
}

Val buildExp(Val x) {
  const ExpTable &table = tableOf(x);
  auto [n, s] = reduceExp(atLeast(atMost(x, table.overflow), table.underflow));
  return scaleByPowerOfTwo(s + 1, n);
}

Val buildExp2(Val x) {
  const FloatFormat &format = formatOf(x);
  double range = double(format.bias + format.mantissa + 4);
  Val clamped = atLeast(atMost(x, range), -range);
  Val rounded = clamped + format.magic;
  Val fraction = clamped - (rounded - format.magic);
  // fraction * ln(2), exact to about twice the format.
  Val ln2 = x.number(0x1.62e42fefa39efp-1);
  auto [r, error] = twoProduct(fraction, ln2);
  Val s = reducedExpM1(r, fma(fraction, tableOf(x).ln2Low, error));
  return scaleByPowerOfTwo(s + 1, bitsOf(rounded));
}

Val buildExpM1(Val x) {
  const FloatFormat &format = formatOf(x);
  // Below -(mantissa + 3) ln(2) the result is -1.
  Val clamped =
      atLeast(atMost(x, tableOf(x).overflow), -double(format.mantissa + 3));
  auto [n, r, low] = reduceInTwoParts(clamped, std::nullopt);
  Val tail = fma(r * r, polynomial(r, tableOf(x).q), low);
  // 2^n (1 + r + tail) - 1, with one factor 2 put off where 2^n would overflow.
  Val large = clamped > 2.0 * format.mantissa;
  Val scale = powerOfTwo(n - select(large, 1, n.integer(0)));
  auto [head, error] = fastTwoSum(scale - 1, scale * r);
  Val result = head + fma(scale, tail, error);
  return copySign(select(large, result + result, result), x);
}

} // namespace tessera::lowering::vmath
