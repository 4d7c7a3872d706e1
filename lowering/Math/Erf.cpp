// erf: a polynomial near zero, 1 - exp(g(|x|)) with g = log(erfc) a polynomial
// beyond, joined without a branch.
#include "lowering/Math/Functions.h"

namespace tessera::lowering::vmath {

static const double small = 0.85;
// P(z) = erf(a) / a - 1, z = a^2, on 0 <= a <= 0.85, minimax of the error
// relative to erf(a), coefficients rounded to the format one by one, the rest
// fitted again. Degree 5: 2^-27.1; degree 10: 2^-56.0.
static const double p32[] = {0x1.06eba8p-3,  -0x1.812726p-2, 0x1.ce256ap-4,
                             -0x1.b735eap-6, 0x1.4b763p-8,   -0x1.4cd86p-11};
static const double p64[] = {
    0x1.06eba8214db68p-3,   -0x1.812746b037998p-2,  0x1.ce2f21a03e8d8p-4,
    -0x1.b82ce31121c00p-6,  0x1.565bccd0a449ep-8,   -0x1.c02da7903a43dp-11,
    0x1.f9a19606d41b8p-14,  -0x1.f4b1cbb427e4fp-17, 0x1.b830e7c145c90p-20,
    -0x1.50fdcf8fc85bap-23, 0x1.6e5db3af4d7bep-27};
// g(a) = log(erfc(a)), minimax of the absolute error weighted by erfc(a) /
// erf(a), which is the error it causes in erf(a). f32: on [0.85, 3.93] in
// powers of a, degree 6, 2^-28.8; f64: on [0.85, 5.95] in powers of a - 1.5,
// degree 18, 2^-57.7.
static const double g32[] = {-0x1.b6cd54p-14, -0x1.20c894p0, -0x1.45e5eap-1,
                             -0x1.ac229p-4,   0x1.70f1f8p-6, -0x1.98a5bcp-9,
                             0x1.ab1c8ep-13};
static const double g64[] = {
    -0x1.b137096b18e96p+1,  -0x1.c1206279e92c1p+1,  -0x1.c90827462a202p-1,
    -0x1.a71a4bddfc4f2p-6,  0x1.89a87b498bbf8p-8,   -0x1.4992623a9032dp-10,
    0x1.c4e869e866cdep-13,  -0x1.790bbb724f43bp-16, -0x1.633fba4cf3391p-19,
    0x1.3e347c9b39631p-19,  -0x1.b798fd1b18ee7p-21, 0x1.9dc6b480e3443p-23,
    -0x1.de0f0df6eb05ap-26, -0x1.48bd22f962d85p-30, 0x1.4df081d271771p-29,
    -0x1.f7fa2a7b03e00p-31, 0x1.c0bf8d8798028p-33,  -0x1.d26525f6208f2p-36,
    0x1.b151b5ba32777p-40};

Val buildErf(Val x) {
  bool f32 = x.isF32();
  Val a = abs(x);
  Val nearZero =
      fma(a, polynomial(a * a, f32 ? llvm::ArrayRef<double>(p32) : p64), a);

  // At the limit erfc is less than half a unit of 1.
  Val bounded = atMost(a, f32 ? 3.93 : 5.95);
  auto [n, s] = reduceExp(polynomial(f32 ? bounded : bounded - 1.5,
                                     f32 ? llvm::ArrayRef<double>(g32) : g64));
  // 1 - 2^n (1 + s), where 1 - 2^n is exact or rounds to 1.
  Val scale = powerOfTwo(n);
  Val away = fma(-scale, s, 1 - scale);
  return copySign(select(a < small, nearZero, away), x);
}

} // namespace tessera::lowering::vmath
