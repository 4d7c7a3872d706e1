// tanh: a polynomial near zero, 1 - 2 / (exp(2|x|) + 1) beyond, joined without
// a branch.
#include "lowering/Math/Functions.h"

namespace tessera::lowering::vmath {

static const double small = 0.6;
// P(z) = (tanh(a) - a) / a^3, z = a^2, on 0 <= a <= 0.6, minimax of the error
// relative to tanh(a), coefficients rounded to the format one by one, the rest
// fitted again. Degree 4: 2^-28.4; degree 10: 2^-57.8.
static const double p32[] = {-0x1.55553ep-2, 0x1.1109bep-3, -0x1.b89ab8p-5,
                             0x1.54c3a8p-6, -0x1.8286dp-8};
static const double p64[] = {
    -0x1.555555555553p-2,   0x1.111111110e1d4p-3,  -0x1.ba1ba1b782032p-5,
    0x1.664f47f04d372p-6,   -0x1.226e2297ed63ap-7, 0x1.d6d0c6c01a64bp-9,
    -0x1.7d79df8217fbep-10, 0x1.33db3d66bcbf6p-11, -0x1.e32e7f356146dp-13,
    0x1.4cad47a9afd04p-14,  -0x1.203b0e5b5d391p-16};

Val buildTanh(Val x) {
  Val a = abs(x);
  Val z = a * a;
  Val nearZero = fma(
      z * a, polynomial(z, x.isF32() ? llvm::ArrayRef<double>(p32) : p64), a);

  // Beyond the limit the result rounds to 1. 2^n + 1 is exact, so the
  // denominator rounds once.
  Val bounded = atMost(a, x.isF32() ? 9.25 : 19.25);
  auto [n, s] = reduceExp(bounded + bounded);
  Val scale = powerOfTwo(n);
  Val away = 1 - 2 / fma(scale, s, scale + 1);
  return copySign(select(a < small, nearZero, away), x);
}

} // namespace tessera::lowering::vmath
