// pow: exp(y * log|x|) with the logarithm to about 1.25 times (f64) or twice
// (f32) the format, and IEEE's special cases.
#include "lowering/Math/Functions.h"
#include <limits>

namespace tessera::lowering::vmath {

static constexpr double infinity = std::numeric_limits<double>::infinity();

// R(z) = log2(1 + f) / s, z = s^2, s = f / (2 + f), |s| <= 0.1716, minimax
// relative, degree 4, 2^-37.8: multiplied by at most 152 it errs by less than
// 1/100 of an f32 unit.
static const double logOverS[] = {0x1.71547652bee0bp+1, 0x1.ec709d129cb09p-1,
                                  0x1.277780138c4d0p-1, 0x1.a58d72f432f93p-2,
                                  0x1.5cea01befb943p-2};
// (2^r - 1) / r on |r| <= 0.5005, minimax of the error relative to 2^r, degree
// 5, 2^-28.9.
static const double exp2OverR[] = {
    0x1.62e430b04c28ep-1, 0x1.ebfbdc377345fp-3,  0x1.c6aee6de30c18p-5,
    0x1.3b2d4eeeb1eddp-7, 0x1.5f3f349b07b34p-10, 0x1.41fb9d5e0449ep-13};
// R(z) = (2 atanh(s) - 2 s - 2/3 s^3) / s^5, z = s^2, |s| <= 0.1716, minimax of
// the error relative to 2 s, degree 7, 2^-73.5.
static const double atanhTail[] = {0x1.9999999999996p-2, 0x1.2492492492f53p-2,
                                   0x1.c71c71c5962a6p-3, 0x1.745d182994de6p-3,
                                   0x1.3b1364b5e579bp-3, 0x1.1120726b3141dp-3,
                                   0x1.de3ce28884619p-4, 0x1.eacaa534c8a22p-4};

/// `log` for 0 < a < inf; -inf at 0, and inf and NaN as they are.
static Val withEnds(Val log, Val a) {
  return select(a < infinity, select(equal(a, 0.0), -infinity, log), a);
}

/// a^y for a >= 0 in f32, by way of f64, which rounds once at the end.
static Val powerF32(Val a, Val y) {
  Val wide = widen(a);
  auto [k, f] = decompose(wide);
  Val s = f / (f + 2);
  Val log2 = withEnds(fma(s, polynomial(s * s, logOverS), k), wide);
  // x^0 = 1 and 1^y = 1, for NaN too.
  Val t = select(equal(widen(y), 0.0) | equal(log2, 0.0), 0.0, widen(y) * log2);
  t = atLeast(atMost(t, 200), -200);
  double magic = formatOf(t).magic;
  Val rounded = t + magic;
  Val r = t - (rounded - magic);
  Val power = fma(r, polynomial(r, exp2OverR), 1);
  return narrow(power * powerOfTwo(bitsOf(rounded)));
}

/// log(a) as a sum of two, to about 2^-65 of itself, for 0 < a < inf.
static Pair preciseLog(Val a) {
  auto [k, f] = decompose(a);
  // s = f / (2 + f) = sHi + sLo
  auto [d, dLow] = fastTwoSum(f.number(2), f);
  Val inverse = 1 / d;
  Val sHi = f * inverse;
  Val sLo = fma(sHi, -dLow, fmaExact(sHi, -d, f)) * inverse;
  // z = s^2, c = 2/3 + z R(z), log(1 + f) = 2 s + s z c
  auto [z, zLow] = twoProduct(sHi, sHi);
  zLow = fma(sHi + sHi, sLo, zLow);
  constexpr double twoThirds = 0x1.5555555555555p-1,
                   twoThirdsLow = 0x1.5555555555555p-55;
  auto [c, cLow] =
      fastTwoSum(z.number(twoThirds), z * polynomial(z, atanhTail));
  cLow = cLow + twoThirdsLow;
  auto [zc, zcLow] = twoProduct(z, c);
  zcLow = zcLow + fma(z, cLow, zLow * c);
  auto [v, vLow] = twoProduct(sHi, zc);
  vLow = vLow + fma(sHi, zcLow, sLo * zc);
  // k ln(2) in two parts, the product with the first one exact.
  auto [sum, error] = fastTwoSum(k * 0x1.62e42fefa38p-1, sHi + sHi);
  auto [total, error2] = fastTwoSum(sum, v);
  Val low =
      (error + error2) + (fma(k, 0x1.ef35793c7673p-45, vLow) + (sLo + sLo));
  return fastTwoSum(total, low);
}

/// a^y for a >= 0 in f64.
static Val powerF64(Val a, Val y) {
  auto [log, logLow] = preciseLog(a);
  log = withEnds(log, a);
  // |log| is 0 or at least 2^-54, so that a larger y than this changes nothing;
  // it might overflow in the product's parts.
  Val bounded = atLeast(atMost(y, 0x1p64), -0x1p64);
  auto [t, tLow] = twoProduct(bounded, log);
  tLow = fma(bounded, logLow, tLow);
  // Where the result is certain, or t no number, the low part is noise or NaN.
  tLow = select(abs(t) < 750.0, tLow, 0.0);
  t = select(equal(y, 0.0) | equal(log, 0.0), 0.0, t);
  auto [n, s] = reduceExp(atLeast(atMost(t, 750), -750), tLow);
  return scaleByPowerOfTwo(s + 1, n);
}

Val buildPow(Val x, Val y) {
  Val a = abs(x);
  Val power = x.isF32() ? powerF32(a, y) : powerF64(a, y);
  Val half = y * 0.5;
  Val isInteger = equal(floor(y), y); // +-inf counts as even
  Val isOdd = isInteger & notEqual(floor(half), half);
  Val bits = bitsOf(x);
  int64_t signBit = int64_t(1) << (bits.element().getIntOrFloatBitWidth() - 1);
  Val sign = select(isOdd, bits & signBit, bits.integer(0));
  power = floatOf(bitsOf(power) | sign);
  // A negative number to a fraction; -inf counts as if it were +inf.
  Val undefined = (x < 0.0) & (a < infinity) & (isInteger ^ 1);
  return select(undefined, std::numeric_limits<double>::quiet_NaN(), power);
}

} // namespace tessera::lowering::vmath
