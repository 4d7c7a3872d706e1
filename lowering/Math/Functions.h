// The expansions, one function each, and the cores they share.
#pragma once
#include "lowering/Math/Emitter.h"

namespace tessera::lowering::vmath {

Val buildExp(Val x);
Val buildExp2(Val x);
Val buildExpM1(Val x);
Val buildLog(Val x);
Val buildLog2(Val x);
Val buildLog10(Val x);
Val buildLog1p(Val x);
Val buildTanh(Val x);
Val buildErf(Val x);
Val buildSin(Val x);
Val buildCos(Val x);
Val buildPow(Val x, Val y);
Val buildRsqrt(Val x);
Val buildFloor(Val x);
Val buildCeil(Val x);
Val buildTrunc(Val x);
Val buildRoundEven(Val x);
Val buildRound(Val x);
/// f16 to f32, and f32 to a narrow float, rounded to nearest, ties to even.
Val buildWidenF16(Val x);
Val buildNarrowToF16(Val x);
Val buildNarrowToBF16(Val x);

/// exp(x) = 2^n * (1 + s) with |s| < 0.42. The low bits of `n` are the integer
/// n, the high ones a constant that shifting left by the mantissa's width
/// drops.
struct ScaledExp {
  Val n, s;
};
/// |x| must be below 2^12, so that n is exact. `low`, where given, is added to
/// x.
ScaledExp reduceExp(Val x, std::optional<Val> low = std::nullopt);
/// 2^n as a normal number, n as in ScaledExp.
Val powerOfTwo(Val n);
/// 2^n * x with one rounding at most, for x near 1 and any n down to twice the
/// smallest exponent.
Val scaleByPowerOfTwo(Val x, Val n);

/// A reduced angle: (n mod 4) * pi/2 + r + low with |r| <= pi/4; low corrects r
/// by less than a unit or so.
struct Quadrant {
  Val n, r, low;
};
/// `fast` with the lanes where a is beyond `limit`, infinite or NaN reduced
/// anew, by a private function of the module that is called if there are any.
/// `limit` is at least 2^16.
Quadrant mendLargeLanes(Val a, const Quadrant &fast, double limit);

/// x = 2^k * (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2), f exact; for finite x >
/// 0, denormal or not.
struct Decomposed {
  Val k, f;
};
Decomposed decompose(Val x);

} // namespace tessera::lowering::vmath
