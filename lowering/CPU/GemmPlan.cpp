// Chooses the schedule of a Gemm from its shape and the target's registers and
// caches.
#include "lowering/CPU/GemmPlan.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::lowering::cpu {
namespace {

/// Rows of the tallest register block: with two vectors a row it fills the
/// registers.
int64_t maximalRows(const GemmTarget &target) {
  if (target.registers >= 32)
    return 14;
  return target.fma ? 6 : 4;
}

/// Vectors of a register block of `rows` rows: as many as leave room for the
/// operands.
int64_t vectorsFor(int64_t rows, const GemmTarget &target) {
  int64_t budget = target.registers >= 32 ? 28 : target.fma ? 12 : 8;
  return std::clamp<int64_t>(budget / rows, 1, 8);
}

void chooseBlocks(GemmPlan &plan, const GemmShape &s,
                  const GemmTarget &target) {
  plan.rowBlocks = llvm::divideCeil(s.m, maximalRows(target));
  plan.tallRows = llvm::divideCeil(s.m, plan.rowBlocks);
  plan.tallBlocks = s.m - plan.rowBlocks * (plan.tallRows - 1);
  plan.vectors = std::min<int64_t>(vectorsFor(plan.tallRows, target),
                                   llvm::divideCeil(s.n, plan.lanes));
}

} // namespace

GemmPlan planGemm(const GemmShape &s, const GemmTarget &target, bool producesA,
                  bool producesB, bool heavyStore) {
  GemmPlan plan;
  int64_t bytes = s.element.getIntOrFloatBitWidth() / 8;
  plan.lanes = std::max<int64_t>(target.vectorBits / 8 / bytes, 1);
  chooseBlocks(plan, s, target);

  bool tailWithoutMasks = s.n % plan.lanes && !target.masks;
  plan.packB = s.k > 0 && (producesB || s.transB || tailWithoutMasks ||
                           plan.rowBlocks >= 16);
  plan.packA = s.k > 0 && producesA;
  plan.kBlock = s.k <= kProductChunk ? s.k : kProductChunk;
  int64_t width = plan.vectors * plan.lanes;
  int64_t columns = target.l2 / 2 / bytes / std::max<int64_t>(plan.kBlock, 1);
  plan.tileColumns = std::max<int64_t>(columns / width, 1) * width;
  plan.tileBlocks = std::max<int64_t>(96 / plan.tallRows, 1);
  plan.storeLoop = heavyStore;
  return plan;
}

} // namespace tessera::lowering::cpu
