// Random numbers that are the same on every machine.
#ifndef TESSERA_TEST_NUMERICS_RANDOM_H
#define TESSERA_TEST_NUMERICS_RANDOM_H

#include <cstddef>
#include <cstdint>

namespace tessera::numerics {

/// SplitMix64. Source: Steele et al., "Fast splittable pseudorandom number
/// generators", OOPSLA 2014.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t bits() {
    uint64_t z = (state += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  /// In [0, count).
  uint64_t below(uint64_t count) { return bits() % count; }
  /// In [0, 1).
  double unit() { return double(bits() >> 11) * 0x1p-53; }
  template <typename T, size_t n> T pick(const T (&choices)[n]) {
    return choices[below(n)];
  }

private:
  uint64_t state;
};

} // namespace tessera::numerics

#endif
