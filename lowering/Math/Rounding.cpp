// Rounding to integral values, for targets without the instruction, and rsqrt.
#include "lowering/Math/Functions.h"

namespace tessera::lowering::vmath {

/// Rounds |x| to the nearest integer, ties to even.
static Val roundedMagnitude(Val a) {
  double unit = double(int64_t(1) << formatOf(a).mantissa);
  return select(a < unit, (a + unit) - unit, a);
}

Val buildRoundEven(Val x) { return copySign(roundedMagnitude(abs(x)), x); }

Val buildTrunc(Val x) {
  Val a = abs(x), rounded = roundedMagnitude(a);
  return copySign(select(rounded > a, rounded - 1, rounded), x);
}

Val buildFloor(Val x) {
  Val rounded = buildRoundEven(x);
  return select(rounded > x, rounded - 1, rounded);
}

Val buildCeil(Val x) {
  Val rounded = buildRoundEven(x);
  return copySign(select(rounded < x, rounded + 1, rounded), x);
}

Val buildRound(Val x) {
  // Half away from zero: adding the number just below 1/2 carries into the
  // integer exactly from .5 on.
  Val a = abs(x);
  return copySign(floor(a + (x.isF32() ? 0x1.fffffep-2 : 0x1.fffffffffffffp-2)),
                  x);
}

Val buildRsqrt(Val x) { return 1 / sqrt(x); }

} // namespace tessera::lowering::vmath
