// The levels of a ColReduce kernel: chunks of elements, then chunks of chunks'
// results, and where these wait.
#include "lowering/CPU/ColReduce.h"
#include "lowering/Kernels/Symbolic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tessera::ir;
using tessera::runtime::SizeFormula;

namespace tessera::lowering::cpu {

/// Elements that one tile computes at least: enough work to pay for handing it
/// to a thread.
static constexpr int64_t kTileElements = 16384;

ColLaunches::ColLaunches(const ColKernel &kernel, StringRef name,
                         ModuleOp module)
    : kernel(kernel), name(name), module(module) {
  if (kernel.grows())
    makeGrowingLevels();
  else
    makeLevels();
}

void ColLaunches::makeLevels() {
  int64_t bytes = 0;
  for (int64_t count = kernel.count;; count = levels.back().chunks) {
    levels.push_back({count,
                      std::max<int64_t>(1, llvm::divideCeil(count, kTreeChunk)),
                      bytes});
    if (levels.size() > 1)
      for (const Reducer &reducer : kernel.reducers)
        bytes += alignedTo(count * kernel.results * reducer.bytes(), 64);
    if (levels.back().chunks == 1)
      break;
  }
  workspace = formulaOf(bytes);
}

//===- Counts that depend on a symbol ------------------------------------===//

/// Levels of a reduction that grows: enough for 2^30 elements.
static constexpr int64_t kGrowingLevels = 3;

/// The terms of level `depth`, of each result. The chunks of n elements are
/// n / 1024 + 1, so that there is one for no elements; those of the chunks the
/// same again.
static Extent growingTerms(int64_t count, int64_t depth, int64_t &divisor) {
  Extent terms = extentOf(count);
  divisor = 1;
  for (int64_t i = 0; i < depth; ++i) {
    terms.constant += divisor;
    divisor *= kTreeChunk;
  }
  return terms;
}

SizeFormula ColLaunches::termsOf(int64_t depth, int64_t times) const {
  int64_t divisor;
  Extent terms = growingTerms(kernel.count, depth, divisor);
  return ceilOf(numberOf(terms), divisor, times);
}

Value ColLaunches::termsValue(int64_t depth) {
  int64_t divisor;
  Extent terms = growingTerms(kernel.count, depth, divisor);
  terms.constant += divisor - 1;
  LaneMath lane(b(), launch->loc());
  return lane.divide(lane.number(numberOf(terms)), divisor);
}

/// Level 2 has one chunk at most; its terms are the first in the workspace.
void ColLaunches::makeGrowingLevels() {
  int64_t bytes = 0, perTerm = 0;
  for (const Reducer &reducer : kernel.reducers) {
    perTerm += kernel.results * reducer.bytes();
    bytes += llvm::alignTo(kTreeChunk * kernel.results * reducer.bytes(), 64);
  }
  for (int64_t depth = 0; depth < kGrowingLevels; ++depth)
    levels.push_back({kernel.count, 1, depth == 1 ? bytes : 0});
  int64_t gaps = 64 * kernel.reducers.size();
  workspace = formulaOf(bytes + gaps) + termsOf(1, perTerm);
}

Value ColLaunches::countOf(const Level &level) {
  if (!kernel.grows())
    return launch->number(level.count);
  return termsValue(&level - &levels.front());
}

Value ColLaunches::chunksOf(const Level &level) {
  if (!kernel.grows())
    return launch->number(level.chunks);
  return isLast(level) ? launch->number(1)
                       : termsValue(&level - &levels.front() + 1);
}

LaneIndex ColLaunches::timesCount(LaneIndex x, const Level &level) {
  if (!kernel.grows())
    return LaneMath(b(), launch->loc()).mulConstant(x, level.count);
  return {arith::MulIOp::create(b(), launch->loc(), x.base, countOf(level)), 0,
          1};
}

LaneIndex ColLaunches::timesChunks(LaneIndex x, const Level &level) {
  if (!kernel.grows())
    return LaneMath(b(), launch->loc()).mulConstant(x, level.chunks);
  return {arith::MulIOp::create(b(), launch->loc(), x.base, chunksOf(level)), 0,
          1};
}

SmallVector<TermBuffer> ColLaunches::growingSlots(const Level &level) {
  LaneMath lane(b(), launch->loc());
  LaneIndex at{lane.number(level.slots), 0, 64};
  // Terms of all results.
  Value terms = isLast(level) ? lane.number(kTreeChunk) : countOf(level);
  terms = lane.mulConstant({terms, 0, 1}, kernel.results).base;
  auto bytes = [&](int64_t size) {
    return lane.mulConstant({terms, 0, 1}, size);
  };
  SmallVector<TermBuffer> buffers;
  for (const Reducer &reducer : kernel.reducers) {
    auto part = [&](LaneIndex from, Type element) {
      return workspacePart(b(), launch->loc(), launch->workspace(), from.base,
                           element, kUnknownElements / 8);
    };
    int64_t valueBytes = reducer.accumulator().getIntOrFloatBitWidth() / 8;
    TermBuffer buffer{part(at, reducer.accumulator()), {}};
    if (reducer.hasPositions())
      buffer.positions =
          part(lane.add(at, bytes(valueBytes)), reducer.positionType());
    buffers.push_back(buffer);
    LaneIndex end = lane.addConstant(lane.add(at, bytes(reducer.bytes())), 63);
    at = lane.mulConstant({lane.divide(end.base, 64), 0, 1}, 64);
  }
  return buffers;
}

void ColLaunches::emit() {
  for (auto [i, level] : llvm::enumerate(levels))
    emitLevel(level, i == 0 ? name.str() : (name + "_" + Twine(i)).str());
}

void ColLaunches::emitLevel(const Level &level, StringRef name) {
  int64_t count = kernel.results == 0 ? 0 : units(level);
  int64_t perTile = std::max<int64_t>(
      1, kTileElements / std::max<int64_t>(1, unitElements(level)));
  SizeFormula tiles = ceilOf(count, perTile);
  if (kernel.grows()) {
    perTile = 1;
    tiles = isLast(level) ? formulaOf(count)
                          : termsOf(&level - &levels.front() + 1, count);
  }
  launch.emplace(module, kernel.kernel, name, tiles, workspace);
  body.emplace(kernel.kernel, launch->inputs());
  if (count > 0) {
    LaneMath lane(b(), launch->loc());
    Value tile = launch->forEachTile();
    if (perTile > 1) {
      Value first = lane.mulConstant({tile, 0, 1}, perTile).base;
      Value last = lane.addConstant({first, 0, 1}, perTile).base;
      last = arith::MinSIOp::create(b(), launch->loc(), last,
                                    launch->number(count));
      tile = launch->openLoop(first, last, 1);
    }
    emitUnit(level, tile);
  }
  launch->finish();
}

SmallVector<TermBuffer> ColLaunches::slots(const Level &level) {
  if (kernel.grows())
    return growingSlots(level);
  int64_t at = level.slots, count = level.count * kernel.results;
  SmallVector<TermBuffer> buffers;
  for (const Reducer &reducer : kernel.reducers) {
    auto part = [&](int64_t from, Type element) {
      return workspacePart(b(), launch->loc(), launch->workspace(),
                           launch->number(from), element, count);
    };
    int64_t valueBytes =
        count * (reducer.accumulator().getIntOrFloatBitWidth() / 8);
    TermBuffer buffer{part(at, reducer.accumulator()), {}};
    if (reducer.hasPositions())
      buffer.positions = part(at + valueBytes, reducer.positionType());
    buffers.push_back(buffer);
    at += alignedTo(count * reducer.bytes(), 64);
  }
  return buffers;
}

} // namespace tessera::lowering::cpu
