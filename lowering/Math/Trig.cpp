// sin and cos by reduction to |r| <= pi/4 and two polynomials.
#include "lowering/Math/Functions.h"

namespace tessera::lowering::vmath {

namespace {
struct TrigTable {
  double halfPi[3];  // pi/2 in three parts
  bool exactProduct; // n * halfPi[1] is exact for |n| < 2^20
  double limit;      // of the fast reduction
  llvm::ArrayRef<double> sine, cosine;
};
} // namespace

// S(z) = (sin(r) - r) / r^3 and C(z) = (cos(r) - 1 + z/2) / r^4, z = r^2, on
// |r| <= 1.001 pi/4, minimax of the error relative to sin and cos, coefficients
// rounded to the format one by one, the rest fitted again. f32: degree 2 and 2,
// 2^-27.9 and 2^-33.0; f64: degree 5 and 5, 2^-57.9 and 2^-63.9.
static const double sine32[] = {-0x1.555546p-3, 0x1.110774p-7, -0x1.9951e6p-13};
static const double cosine32[] = {0x1.55554ap-5, -0x1.6c0c28p-10,
                                  0x1.99e80cp-16};
static const double sine64[] = {-0x1.5555555555548p-3,  0x1.111111110f730p-7,
                                -0x1.a01a019be9203p-13, 0x1.71de355528591p-19,
                                -0x1.ae5e4b7fd7134p-26, 0x1.5d8b53e5c4349p-33};
static const double cosine64[] = {
    0x1.555555555554bp-5,   -0x1.6c16c16c15005p-10, 0x1.a01a019c8c7dbp-16,
    -0x1.27e4f7ef0d774p-22, 0x1.1ee9d9c65227bp-29,  -0x1.8fa55334ed589p-37};

static const TrigTable &tableOf(Val x) {
  static const TrigTable f32 = {
      {0x1.921fb6p0, -0x1.777a5cp-25, -0x1.ee59dap-50},
      false,
      1e5,
      sine32,
      cosine32};
  static const TrigTable f64 = {
      {0x1.921fb54442d18p0, 0x1.1a626331p-54, 0x1.1701b839a252p-88},
      true,
      1.6e6,
      sine64,
      cosine64};
  return x.isF32() ? f32 : f64;
}

/// Cody and Waite's reduction for 0 <= a <= limit: n < 2^20, and n * halfPi[0]
/// is taken off exactly.
static Quadrant reduceSmall(Val a) {
  const TrigTable &table = tableOf(a);
  double magic = formatOf(a).magic;
  Val rounded = fma(a, 0x1.45f306dc9c883p-1, a.number(magic));
  Val n = rounded - magic;
  Val rest = fmaExact(n, -table.halfPi[0], a);
  Val product = n * table.halfPi[1];
  auto [r, low] = fastTwoSum(rest, -product);
  if (!table.exactProduct)
    low = low - fmaExact(n, table.halfPi[1], -product);
  return {bitsOf(rounded), r, fma(n, -table.halfPi[2], low)};
}

static Quadrant reduce(Val a) {
  return mendLargeLanes(a, reduceSmall(a), tableOf(a).limit);
}

/// The sine of n * pi/2 + r + low, with the sign bits of `sign` flipped.
static Val sineOf(const Quadrant &quadrant, Val n, std::optional<Val> sign) {
  const TrigTable &table = tableOf(quadrant.r);
  Val r = quadrant.r, z = r * r;
  Val sine = r + fma(z * r, polynomial(z, table.sine), quadrant.low);
  // 1 - z/2 is the larger part: what its rounding loses goes to the smaller
  // one.
  Val head = fma(z, -0.5, 1);
  Val lost = fma(r, -quadrant.low, fma(z, -0.5, 1 - head));
  Val cosine = head + fma(z * z, polynomial(z, table.cosine), lost);
  Val value = select(notEqual(n & 1, 0), cosine, sine);
  Val flip = (n & 2) << (n.element().getIntOrFloatBitWidth() - 2);
  if (sign)
    flip = flip ^ *sign;
  return floatOf(bitsOf(value) ^ flip);
}

Val buildSin(Val x) {
  Quadrant quadrant = reduce(abs(x));
  Val bits = bitsOf(x);
  return sineOf(
      quadrant, quadrant.n,
      bits & (int64_t(1) << (bits.element().getIntOrFloatBitWidth() - 1)));
}

Val buildCos(Val x) {
  Quadrant quadrant = reduce(abs(x));
  return sineOf(quadrant, quadrant.n + 1, std::nullopt);
}

} // namespace tessera::lowering::vmath
