// The tree in which float sums and products are evaluated: this file is its
// definition.
#ifndef TESSERA_LOWERING_REFERENCE_TREE_H
#define TESSERA_LOWERING_REFERENCE_TREE_H

#include "lowering/Reference/Numbers.h"
#include "llvm/ADT/ArrayRef.h"

namespace tessera::lowering::reference {

inline constexpr size_t kTreeChunk = 1024, kTreeGroup = 4, kTreeLanes = 16;

/// Combines at most kTreeChunk values. Four neighbours form a group,
/// (x0+x1)+(x2+x3); group g goes to lane g mod 16; a lane adds its groups in
/// order; then the lanes fold: l += l+8, +4, +2, +1. Missing values are the
/// identity.
template <typename T, typename Fn>
T combineChunk(llvm::ArrayRef<T> values, T identity, Fn combine) {
  auto at = [&](size_t i) { return i < values.size() ? values[i] : identity; };
  llvm::SmallVector<T> lanes(kTreeLanes, identity);
  for (size_t group = 0; group < kTreeChunk / kTreeGroup; ++group) {
    size_t i = group * kTreeGroup;
    T sum = combine(combine(at(i), at(i + 1)), combine(at(i + 2), at(i + 3)));
    lanes[group % kTreeLanes] = combine(lanes[group % kTreeLanes], sum);
  }
  for (size_t half = kTreeLanes / 2; half > 0; half /= 2)
    for (size_t lane = 0; lane < half; ++lane)
      lanes[lane] = combine(lanes[lane], lanes[lane + half]);
  return lanes[0];
}

/// Combines any number of values: chunk by chunk, and the chunks' results by
/// the same rule. Not for no values at all.
template <typename T, typename Fn>
T combineTree(llvm::ArrayRef<T> values, T identity, Fn combine) {
  if (values.size() <= kTreeChunk)
    return combineChunk(values, identity, combine);
  llvm::SmallVector<T> results;
  for (size_t i = 0; i < values.size(); i += kTreeChunk)
    results.push_back(
        combineChunk(values.slice(i, std::min(kTreeChunk, values.size() - i)),
                     identity, combine));
  return combineTree(llvm::ArrayRef<T>(results), identity, combine);
}

/// An empty sum is +0. Integers wrap, so that their tree does not matter.
template <typename T> T sumTree(llvm::ArrayRef<T> values) {
  return values.empty()
             ? T(0)
             : combineTree(values, T(std::floating_point<T> ? -0.0 : 0),
                           plus<T>);
}
template <typename T> T productTree(llvm::ArrayRef<T> values) {
  return values.empty() ? T(1) : combineTree(values, T(1), times<T>);
}

} // namespace tessera::lowering::reference

#endif
