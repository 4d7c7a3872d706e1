// Conversions between the narrow floats and f32 by their bits, for targets
// without the instructions.
#include "lowering/Math/Functions.h"

namespace tessera::lowering::vmath {

Val buildWidenF16(Val x) {
  Val word = resized(bitsOf(x), 32);
  // The exponent of an f16 counts from 2^-15, that of an f32 from 2^-127: put
  // where an f32 has them, the bits are the number times 2^-112, denormals
  // included.
  constexpr int64_t kInfinity = 0x7f800000;
  Val sign = (word & 0x8000) << 16;
  Val magnitude = (word & 0x7fff) << 13;
  Val scaled = bitsOf(floatOf(magnitude) * 0x1p112);
  Val finite = magnitude < (0x7c00 << 13);
  return floatOf(sign | select(finite, scaled, magnitude | kInfinity));
}

Val buildNarrowToF16(Val x) {
  constexpr int64_t kHalf = int64_t(126) << 23;   // 0.5
  constexpr int64_t kLeast = int64_t(113) << 23;  // 2^-14, the least normal f16
  constexpr int64_t kBeyond = int64_t(143) << 23; // 2^16
  constexpr int64_t kBias = int64_t(112) << 23;   // between the two biases
  Val word = bitsOf(x);
  Val sign = (word >> 16) & 0x8000;
  Val magnitude = word & 0x7fffffff;
  // Added to 0.5, whose last bit is 2^-24, a number below 2^-14 is rounded to
  // where the denormals of f16 end.
  Val denormal = bitsOf(floatOf(magnitude) + 0.5) - kHalf;
  // Else the lower 13 bits are rounded away, ties to even; a carry moves the
  // exponent on, to infinity at last.
  Val odd = (magnitude >> 13) & 1;
  Val normal = ((magnitude - kBias) + (odd + 0xfff)) >> 13;
  Val beyond = select(notEqual(x, x), magnitude.integer(0x7e00), 0x7c00);
  Val result = select(magnitude < kLeast, denormal, normal);
  result = select(magnitude < kBeyond, result, beyond);
  return floatOf(resized(sign | result, 16));
}

Val buildNarrowToBF16(Val x) {
  // The bf16 is the upper half, plus one if the lower half is more than a half,
  // or is a half and the upper one is odd.
  Val word = bitsOf(x);
  Val rounded = (word + (((word >> 16) & 1) + 0x7fff)) >> 16;
  return bf16Of(resized(select(notEqual(x, x), 0x7fc0, rounded), 16));
}

} // namespace tessera::lowering::vmath
