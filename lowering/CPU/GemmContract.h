// The part of the floating-point contract that every emitter of products keeps.
#pragma once
#include <cstdint>

namespace tessera::lowering::cpu {

/// An element of a float product is, within each chunk of this many steps of k,
/// one chain of fused multiply-adds from +0 in increasing k; the chunks'
/// results are added in order. Nothing else about the schedule may reach the
/// bits.
inline constexpr int64_t kProductChunk = 512;

} // namespace tessera::lowering::cpu
