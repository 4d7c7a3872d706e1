// f16, bf16 and tf32 as a device converts them, in integer arithmetic.
#pragma once

#include <bit>
#include <cstdint>

namespace tessera::runtime::sim {

// The canonical NaNs of PTX.
inline constexpr uint32_t kNaN16 = 0x7fff, kNaN32 = 0x7fffffff;

inline float bf16ToF32(uint32_t bits) {
  return std::bit_cast<float>(bits << 16);
}

// To nearest even.
inline uint32_t f32ToBf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return kNaN16;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

inline float f16ToF32(uint32_t bits) {
  const uint32_t sign = (bits & 0x8000) << 16;
  uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31)
    return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent == 0) {
    if (fraction == 0)
      return std::bit_cast<float>(sign);
    // Shift the leading one to where a normal number has it.
    const int shift = std::countl_zero(fraction) - 21;
    fraction = fraction << shift & 1023;
    exponent = uint32_t(1 - shift);
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

// To nearest even; what is too large becomes infinite.
inline uint32_t f32ToF16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return kNaN16;
  if (magnitude >= 0x477ff000) // 65520, half-way to what would be 2^16
    return sign | 0x7c00;
  // The significand, and how many of its bits are dropped.
  const int exponent = int(magnitude >> 23) - 127;
  const int dropped = exponent < -14 ? 13 + (-14 - exponent) : 13;
  if (dropped > 24)
    return sign;
  const uint32_t significand = (magnitude & 0x7fffff) | 0x800000;
  const uint32_t base = exponent < -14 ? 0 : uint32_t(exponent + 14) << 10;
  const uint32_t kept = significand >> dropped;
  const uint32_t rest = significand & ((1u << dropped) - 1);
  const uint32_t half = 1u << (dropped - 1);
  const bool up = rest > half || (rest == half && (kept & 1));
  return sign | (base + kept + up);
}

// The 32-bit form of tf32 has ten bits of fraction and zeros below.
inline uint32_t f32ToTf32(float value, bool tiesAway) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return kNaN32;
  if ((bits & 0x7fffffff) == 0x7f800000)
    return bits;
  const uint32_t half = tiesAway ? 0x1000 : 0xfff + (bits >> 13 & 1);
  return (bits + half) & ~0x1fffu;
}

} // namespace tessera::runtime::sim
