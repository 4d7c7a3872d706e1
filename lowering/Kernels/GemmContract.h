// What a product is to the Gemm emitters of all targets, and the part of the
// floating-point contract that they keep.
#pragma once
#include "mlir/IR/Types.h"
#include <cstdint>

namespace tessera::lowering {

/// An element of a float product is, within each chunk of this many steps of k,
/// one chain of fused multiply-adds from +0 in increasing k; the chunks'
/// results are added in order. Nothing else about the schedule may reach the
/// bits.
inline constexpr int64_t kProductChunk = 512;

/// C[batch, m, n] = A · B. A is stored as [batch, m, k], or [batch, k, m] with
/// `transA`; B as [batch, k, n], or [batch, n, k] with `transB`. A shared
/// operand has no batch dimension. Any size may be 0.
struct GemmShape {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  bool transA = false, transB = false;
  bool sharedA = false, sharedB = false;
  /// f32, f64, or a signless integer, whose arithmetic wraps.
  mlir::Type element;
  /// Each element of an operand is a pair of bf16 numbers in the bits of an
  /// f32, for two steps of k, and k is the number of pairs.
  bool pairs = false;

  /// kProductChunk, in elements along k.
  int64_t chunk() const { return pairs ? kProductChunk / 2 : kProductChunk; }
};

} // namespace tessera::lowering
