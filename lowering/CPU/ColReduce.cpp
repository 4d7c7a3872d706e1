// The ColReduce emitter: reductions over leading, all, or any other dimensions.
//
// If the innermost dimension stays, vectors run along it, and many results are
// accumulated at once. If it is reduced, each result is a sequence of its own.
// Both cut the reduced elements into the tree's chunks, which run in parallel.
#include "lowering/CPU/ColReduce.h"
#include "lowering/CPU/Emit.h"
#include "lowering/CPU/ReduceTreeElements.h"
#include "lowering/CPU/ReduceTreeSequence.h"
#include "lowering/Kernels/RowReducePlan.h"
#include "lowering/Kernels/Symbolic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tessera::ir;
using tessera::runtime::SizeFormula;

namespace tessera::lowering::cpu {

/// Runs of results that are computed together have about this many bytes, and
/// the elements that wait for their reduction at most so many.
static constexpr int64_t kGroupBytes = 4096, kStageBytes = 64 << 10;

/// Elements that one tile computes at least: enough work to pay for handing it
/// to a thread.
static constexpr int64_t kTileElements = 16384;

//===- Tiles -------------------------------------------------------------===//

int64_t lanesOf(const ColKernel &kernel, const TargetInfo &target,
                int64_t most) {
  int64_t lanes = kTreeLanes;
  for (const Reducer &reducer : kernel.reducers)
    lanes = std::min<int64_t>(lanes, target.lanes(reducer.accumulator()));
  return std::min<int64_t>(
      lanes, llvm::bit_floor(uint64_t(std::max<int64_t>(1, most))));
}

void TiledColLaunches::emitLevel(const Level &level, StringRef name) {
  int64_t count = kernel.results == 0 ? 0 : units(level);
  int64_t perTile = std::max<int64_t>(
      1, kTileElements / std::max<int64_t>(1, unitElements(level)));
  SizeFormula tiles = ceilOf(count, perTile);
  if (kernel.grows()) {
    perTile = 1;
    tiles = unitsOf(level, count);
  }
  auto tiled =
      std::make_unique<Launch>(module, kernel.kernel, name, tiles, workspace);
  Launch &function = *tiled;
  launch = std::move(tiled);
  body.emplace(kernel.kernel, launch->inputs());
  if (count > 0) {
    LaneMath lane(b(), launch->loc());
    Value tile = function.forEachTile();
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

//===- Sequences ---------------------------------------------------------===//

namespace {

/// Each result's elements are walked in their order, along the innermost
/// dimension.
class SequenceLaunches : public TiledColLaunches {
public:
  SequenceLaunches(const ColKernel &kernel, StringRef name,
                   const TargetInfo &target, ModuleOp module,
                   const RowPlan *rows)
      : TiledColLaunches(kernel, name, module), target(target), rows(rows) {}

private:
  int64_t units(const Level &level) const override {
    return llvm::divideCeil(kernel.results, together(level)) * level.chunks /
           streams(level);
  }
  int64_t unitElements(const Level &level) const override {
    return std::min(level.count, kTreeChunk) * together(level) * streams(level);
  }

  /// Chunks of one long sum that are walked side by side, far apart in memory.
  int64_t streams(const Level &level) const {
    bool isLong = isFirst(level) && kernel.results == 1 &&
                  kernel.reducers.size() == 1 && !isStaged(level) &&
                  level.count % kTreeChunk == 0 && level.chunks >= 64 &&
                  level.chunks % kTreeStreams == 0 && !isCostly();
    return isLong && inputBytes(kernel.kernel) > target.l2 ? kTreeStreams : 1;
  }

  bool isCostly() const {
    return kernel.kernel.getBody().front().getOperations().size() > 12;
  }

  /// Results whose elements are computed together, since their runs are short
  /// and lie side by side.
  int64_t together(const Level &level) const {
    if (level.count == 0 || !isFirst(level) || rows ||
        runLength() * 4 >= kGroupBytes || isSymbolic(kernel.results))
      return 1;
    int64_t bytes = 0;
    for (const Reducer &reducer : kernel.reducers)
      bytes += reducer.bytes() * kTreeChunk;
    int64_t most = std::max<int64_t>(1, kStageBytes / bytes);
    return std::min({kGroupBytes / (runLength() * 4), most, kernel.results});
  }

  void emitUnit(const Level &level, Value unit) override {
    LaneMath lane(b(), launch->loc());
    if (streams(level) > 1) {
      first = result = lane.number(0);
      combineElements(level, unit, lane.mulConstant({unit, 0, 1}, kTreeChunk),
                      kTreeChunk);
      return;
    }
    if (kernel.grows()) {
      Value chunks = chunksOf(level);
      Value group = arith::DivUIOp::create(b(), launch->loc(), unit, chunks);
      first = lane.mulConstant({group, 0, 1}, together(level)).base;
      emitChunk(level, arith::RemUIOp::create(b(), launch->loc(), unit, chunks),
                kTreeChunk);
      return;
    }
    Value chunk = lane.remainder(unit, level.chunks);
    first = lane.mulConstant({lane.divide(unit, level.chunks), 0, 1},
                             together(level))
                .base;
    int64_t rest = level.count % kTreeChunk;
    if (level.count == 0 || level.chunks == 1 || rest == 0 || isStaged(level)) {
      emitChunk(level, chunk, std::min(level.count, kTreeChunk));
      return;
    }
    // The last chunk is shorter; its length is known.
    Value isLast =
        arith::CmpIOp::create(b(), launch->loc(), arith::CmpIPredicate::eq,
                              chunk, launch->number(level.chunks - 1));
    buildIf(
        b(), launch->loc(), isLast, [&] { emitChunk(level, chunk, rest); },
        [&] { emitChunk(level, chunk, kTreeChunk); });
  }

  void emitChunk(const Level &level, Value chunk, int64_t length) {
    LaneMath lane(b(), launch->loc());
    LaneIndex begin = lane.mulConstant({chunk, 0, 1}, kTreeChunk);
    result = first;
    if (length == 0)
      finishChunk(level, chunk, SmallVector<Term>(kernel.reducers.size()));
    else if (isFirst(level))
      combineElements(level, chunk, begin, length);
    else
      finishChunk(level, chunk, combineSlots(level, begin, length));
  }

  /// Hands the chunk's terms of a result on.
  void finishChunk(const Level &level, Value chunk, ArrayRef<Term> terms) {
    LaneMath lane(b(), launch->loc());
    if (isLast(level)) {
      auto index =
          *lane.delinearize({result, 0, 1}, kernel.sizes(kernel.keptDims), 1);
      storeResults(terms, result, index, 1);
      return;
    }
    LaneIndex slot =
        lane.add(timesChunks({result, 0, 1}, level), {chunk, 0, 1});
    for (auto [term, buffer] : llvm::zip(terms, slots(next(level))))
      buffer.store(b(), launch->loc(), term, slot.base);
  }

  void combineElements(const Level &level, Value chunk, LaneIndex begin,
                       int64_t length) {
    Location loc = launch->loc();
    int64_t lanes = lanesOf(kernel, target, level.count);
    SmallVector<Root> roots;
    for (const Reducer &reducer : kernel.reducers)
      roots.push_back({reducer.getOp()->getOperand(0), std::nullopt, false});
    Elements elements(loc, *body, roots, kernel.reducers, level.count, lanes,
                      runLength(), [&](OpBuilder &, Value value, Value at) {
                        return indexOf(value, result, at);
                      });
    if (rows && inputBytes(kernel.kernel) > target.l2 && streams(level) == 1)
      for (unsigned input : rows->passes[0].streams)
        elements.streams.push_back(
            {launch->inputs()[input],
             LaneMath(b(), loc).mulConstant({result, 0, 1}, level.count).base});
    int64_t vectors = isCostly() ? kTreeGroup
                                 : std::clamp(kTreeGroup * kTreeLanes / lanes,
                                              kTreeGroup, int64_t(8));
    Sequence sequence(
        loc, kernel.reducers, lanes, vectors,
        [&](OpBuilder &b, LaneIndex first, int64_t vectors, int64_t width) {
          return elements.visit(b, first, vectors, width);
        });
    if (int64_t count = streams(level); count > 1) {
      LaneMath lane(b(), loc);
      int64_t apart = level.chunks / count;
      SmallVector<LaneIndex> begins;
      for (int64_t c = 0; c < count; ++c)
        begins.push_back(lane.addConstant(begin, c * apart * kTreeChunk));
      SmallVector<Term> terms = sequence.chunks(b(), begins, length);
      for (int64_t c = 0; c < count; ++c)
        finishChunk(level, lane.addConstant({chunk, 0, 1}, c * apart).base,
                    terms[c]);
      return;
    }
    auto finish = [&] {
      finishChunk(
          level, chunk,
          sequence.chunk(b(), begin, length, elementsBefore(level, length)));
    };
    if (!isStaged(level)) {
      Value end = groupEnd(level);
      buildLoop(b(), loc, first, end, 1, [&](Value member) {
        result = member;
        finish();
      });
      return;
    }
    Value members = arith::SubIOp::create(b(), loc, groupEnd(level), first);
    auto select = [&](Value member) {
      result = arith::AddIOp::create(b(), loc, first, member);
    };
    elements.prepareGroup(b(), begin, length, together(level), members, select);
    buildLoop(b(), loc, launch->number(0), members, 1, [&](Value member) {
      select(member);
      elements.selectStage(b(), member);
      if (kernel.grows() || (level.chunks > 1 && level.count % kTreeChunk != 0))
        elements.fillUp(b(), begin, length);
      finish();
    });
  }

  /// Whether elements are computed ahead of their reduction.
  bool isStaged(const Level &level) const {
    if (kernel.grows())
      return isFirst(level);
    return isFirst(level) &&
           !Elements::isDirect(kernel.reducers, level.count,
                               lanesOf(kernel, target, level.count),
                               runLength());
  }

  /// The end of the results of a unit.
  Value groupEnd(const Level &level) {
    Value end = LaneMath(b(), launch->loc())
                    .addConstant({first, 0, 1}, together(level))
                    .base;
    if (kernel.results % together(level) == 0)
      return end;
    return arith::MinSIOp::create(b(), launch->loc(), end,
                                  launch->number(kernel.results));
  }

  SmallVector<Term> combineSlots(const Level &level, LaneIndex begin,
                                 int64_t length) {
    SmallVector<TermBuffer> buffers = slots(level);
    if (kernel.grows())
      return combineGrowing(level, begin, buffers);
    Value start = LaneMath(b(), launch->loc())
                      .mulConstant({result, 0, 1}, level.count)
                      .base;
    auto load = [&](OpBuilder &b, LaneIndex first, int64_t vectors,
                    int64_t width) {
      LaneMath lane(b, launch->loc());
      SmallVector<Term> terms;
      for (const TermBuffer &buffer : buffers)
        for (int64_t v = 0; v < vectors; ++v) {
          LaneIndex at = lane.add(
              {start, 0, 1}, lane.addConstant({first.base, 0, 1}, v * width));
          terms.push_back(buffer.load(b, launch->loc(), at.base, width));
        }
      return terms;
    };
    Sequence sequence(launch->loc(), kernel.reducers,
                      lanesOf(kernel, target, level.count), kTreeGroup, load);
    return sequence.chunk(b(), begin, length, elementsBefore(level, length));
  }

  /// A chunk of slots that is filled up with neutral terms.
  SmallVector<Term> combineGrowing(const Level &level, LaneIndex begin,
                                   ArrayRef<TermBuffer> buffers) {
    Location loc = launch->loc();
    LaneMath lane(b(), loc);
    Value start =
        lane.add(timesCount({result, 0, 1}, level), {begin.base, 0, 1}).base;
    Value length = arith::SubIOp::create(b(), loc, countOf(level), begin.base);
    length = arith::MinSIOp::create(b(), loc, length, lane.number(kTreeChunk));
    SmallVector<TermBuffer> whole;
    for (const Reducer &reducer : kernel.reducers)
      whole.push_back(stackTerms(b(), reducer, kTreeChunk));
    buildLoop(b(), loc, lane.number(0), length, 1, [&](Value i) {
      Value from = arith::AddIOp::create(b(), loc, start, i);
      for (auto [buffer, copy] : llvm::zip(buffers, whole))
        copy.store(b(), loc, buffer.load(b(), loc, from, 1), i);
    });
    buildLoop(b(), loc, length, lane.number(kTreeChunk), 1, [&](Value i) {
      for (auto [reducer, copy] : llvm::zip(kernel.reducers, whole))
        copy.store(b(), loc, reducer.identity(b(), 1), i);
    });
    auto load = [&](OpBuilder &b, LaneIndex first, int64_t vectors,
                    int64_t width) {
      LaneMath lane(b, loc);
      SmallVector<Term> terms;
      for (const TermBuffer &buffer : whole)
        for (int64_t v = 0; v < vectors; ++v)
          terms.push_back(buffer.load(
              b, loc, lane.addConstant(first, v * width).base, width));
      return terms;
    };
    return Sequence(loc, kernel.reducers, lanesOf(kernel, target, kTreeChunk),
                    kTreeGroup, load)
        .chunk(b(), lane.constant(0), kTreeChunk);
  }

  /// Only the last chunk is shorter; whole ones come before it.
  int64_t elementsBefore(const Level &level, int64_t length) const {
    return level.chunks > 1 && length < kTreeChunk ? kTreeChunk : 0;
  }

  int64_t runLength() const {
    if (rows)
      return rows->runLength;
    int64_t first = kernel.shape.size();
    while (first > 0 && (kernel.shape[first - 1] == 1 ||
                         llvm::is_contained(kernel.reducedDims, first - 1)))
      --first;
    return findRunLength(kernel.kernel, kernel.shape, first);
  }

  /// The index of the operand's element number `at` among those of a result.
  SmallVector<LaneIndex> indexOf(Value value, Value result, Value at) {
    if (rows)
      return rows->indexOf(b(), value, result, {at, 0, 1});
    return kernel.indexOf(b(), result, {at, 0, 1});
  }

  const TargetInfo &target;
  const RowPlan *rows;
  Value first;  ///< Of the results of the unit at hand.
  Value result; ///< The one at hand.
};

} // namespace

LogicalResult emitColReduce(KernelOp op, StringRef name,
                            const TargetInfo &target, ModuleOp module) {
  ColKernel kernel(op);
  if (failed(kernel.analyse()))
    return failure();
  if (kernel.keepsInnermost()) {
    emitColumns(kernel, name, target, module);
    return success();
  }
  // Where the reduced dimensions are the trailing ones, the results are rows.
  int64_t leading = kernel.keptDims.size();
  bool trailing =
      llvm::all_of(kernel.keptDims, [&](int64_t dim) { return dim < leading; });
  RowPlan rows(op);
  if (trailing && failed(rows.analyse()))
    return failure();
  SequenceLaunches(kernel, name, target, module, trailing ? &rows : nullptr)
      .emit();
  return success();
}

} // namespace tessera::lowering::cpu
