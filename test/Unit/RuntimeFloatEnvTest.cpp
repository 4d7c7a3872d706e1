// The floating-point environment of a scope.
#include "runtime/FloatEnv.h"

#include <gtest/gtest.h>

#ifdef TESSERA_HAS_MXCSR
TEST(FloatEnv, setsTheDefaultAndRestores) {
  using namespace tessera::runtime;
  unsigned saved = _mm_getcsr();
  const unsigned odd = 0xFFC0; // FTZ, DAZ, towards zero, all masked
  _mm_setcsr(odd);
  {
    FloatEnv environment;
    EXPECT_EQ(_mm_getcsr(), kDefaultMxcsr);
    volatile float tiny = 1e-38f, half = 0.5f;
    EXPECT_GT(tiny * half * half, 0.0f); // a denormal, kept
    volatile float zero = 0;
    volatile float inf = half / zero; // raises a flag
    (void)inf;
  }
  EXPECT_EQ(_mm_getcsr(), odd);
  _mm_setcsr(saved);
}
#endif
