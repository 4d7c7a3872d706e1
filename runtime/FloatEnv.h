// The floating-point environment that compiled code runs in.
#pragma once

#if defined(__x86_64__) || defined(_M_X64)
#include <xmmintrin.h>
#define TESSERA_HAS_MXCSR 1
#endif

namespace tessera::runtime {

// Round to nearest, every exception masked, denormals kept.
inline constexpr unsigned kDefaultMxcsr = 0x1F80;

// Sets the default environment for a thread of ours, for good.
inline void setDefaultFloatEnv() {
#ifdef TESSERA_HAS_MXCSR
  _mm_setcsr(kDefaultMxcsr);
#endif
}

// The default environment for one scope. At the end the caller's comes back,
// its exception flags included. Without MXCSR it does nothing.
class FloatEnv {
public:
#ifdef TESSERA_HAS_MXCSR
  FloatEnv() : saved(_mm_getcsr()) { _mm_setcsr(kDefaultMxcsr); }
  ~FloatEnv() { _mm_setcsr(saved); }
#else
  FloatEnv() = default;
  ~FloatEnv() {}
#endif
  FloatEnv(const FloatEnv &) = delete;
  FloatEnv &operator=(const FloatEnv &) = delete;

private:
#ifdef TESSERA_HAS_MXCSR
  unsigned saved;
#endif
};

} // namespace tessera::runtime
