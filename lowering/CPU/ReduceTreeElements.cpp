// Builds the code that computes a fused body's elements at some neighbouring
// places.
#include "lowering/CPU/ReduceTreeElements.h"
#include "dialects/Tessera/IR/ScalarBuilder.h"
#include "dialects/Tessera/IR/StandIns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering::cpu {

static constexpr int64_t kLineBytes = 64;
/// Runs of fewer bytes are not worth vectors of their own.
static constexpr int64_t kLongRun = 1024;
/// Runs of up to this many vectors are computed without a loop.
static constexpr int64_t kShortRun = 8;

bool Elements::isDirect(ArrayRef<Reducer> reducers, int64_t count,
                        int64_t lanes, int64_t runLength) {
  // The last chunk's length is known at run time alone.
  if (isSymbolic(count))
    return false;
  int64_t bytes = 0;
  for (const Reducer &reducer : reducers)
    bytes = std::max(bytes, runLength * reducer.bytes());
  return runLength == count ||
         (runLength % lanes == 0 && (bytes >= kLongRun || reducers.empty()));
}

SmallVector<Term> Elements::visit(OpBuilder &b, LaneIndex first,
                                  int64_t vectors, int64_t width) const {
  LaneMath lane(b, loc);
  SmallVector<Value> values;
  if (isDirect())
    values = compute(b, first, vectors, width);
  SmallVector<Term> terms;
  for (auto [r, reducer] : llvm::enumerate(reducers))
    for (int64_t v = 0; v < vectors; ++v) {
      LaneIndex at = lane.addConstant(first, v * width);
      Value value;
      if (isDirect()) {
        value = values[r * vectors + v];
      } else {
        LaneIndex place{placeInStage(b, at.base), 1, 1};
        value = loadLanes(b, loc, stages[r], place, width,
                          tensorType(roots[r].value).getElementType());
      }
      terms.push_back(reducer.load(b, value, at));
    }
  return terms;
}

/// Computes and stores vectors of all roots; the result is ordered by roots.
SmallVector<Value> Elements::compute(OpBuilder &b, LaneIndex first,
                                     int64_t vectors, int64_t width) const {
  prefetch(b, first.base, vectors * width);
  FusedBody::Frame frame(body, b);
  LaneMath lane(b, loc);
  SmallVector<Value> values(roots.size() * vectors);
  int64_t together = vectors * width;
  bool oneRun = runLength == count ||
                (runLength % together == 0 && first.divisor % together == 0);
  LaneIndex start = first;
  SmallVector<Index> starts;
  auto enterRun = [&](LaneIndex at) {
    start = {lane.number(0), 0, 0};
    if (runLength != count)
      start =
          lane.mulConstant({lane.divide(at.base, runLength), 0, 1}, runLength);
    starts.clear();
    for (const Root &root : roots)
      starts.push_back(runStart(b, root.value, start.base));
  };
  for (int64_t v = 0; v < vectors; ++v) {
    LaneIndex at = lane.addConstant(first, v * width);
    if (v == 0 || !oneRun)
      enterRun(at);
    LaneIndex offset = at;
    if (runLength != count)
      offset.base = arith::SubIOp::create(b, loc, at.base, start.base);
    for (auto [r, root] : llvm::enumerate(roots))
      values[r * vectors + v] = frame.at(
          root.value, indexInRun(lane, root.value, starts[r], offset), width);
  }
  for (auto [r, root] : llvm::enumerate(roots))
    for (int64_t v = 0; v < vectors && root.place; ++v)
      store(b, root, values[r * vectors + v],
            lane.addConstant(first, v * width).base);
  return values;
}

//===- Short runs --------------------------------------------------------===//

Value Elements::placeInStage(OpBuilder &b, Value element) const {
  Value place = arith::SubIOp::create(b, loc, element, stagesBegin);
  return stageOffset ? arith::AddIOp::create(b, loc, place, stageOffset)
                     : place;
}

void Elements::selectStage(OpBuilder &b, Value member) {
  stageOffset = LaneMath(b, loc).mulConstant({member, 0, 1}, stageSize()).base;
}

void Elements::prepareGroup(OpBuilder &b, LaneIndex begin, int64_t length,
                            int64_t most, Value members,
                            llvm::function_ref<void(Value)> select) {
  LaneMath lane(b, loc);
  // Runs and vectors may reach over both ends of the elements.
  stagesBegin = lane.addConstant({begin.base, 0, 1}, -stageMargin()).base;
  for (size_t r = stages.size(); r < reducers.size(); ++r) {
    Type element = storageType(tensorType(roots[r].value).getElementType());
    stages.push_back(stackBuffer(b, loc, element, most * stageSize()));
  }
  Value end = endOf(b, begin, length);
  if (runLength == count && isSymbolic(count)) {
    // The whole sequence is one run, whose length may be 0.
    buildLoop(b, loc, lane.number(0), members, 1, [&](Value member) {
      select(member);
      selectStage(b, member);
      computeRun(b, lane.number(0), begin.base, end);
    });
    return;
  }
  Value firstRun = lane.divide(begin.base, runLength);
  Value endRun =
      lane.divide(lane.addConstant({end, 0, 1}, runLength - 1).base, runLength);
  buildLoop(b, loc, firstRun, endRun, 1, [&](Value run) {
    Value start = lane.mulConstant({run, 0, 1}, runLength).base;
    if (!select)
      return computeRun(b, start, begin.base, end);
    buildLoop(b, loc, lane.number(0), members, 1, [&](Value member) {
      select(member);
      selectStage(b, member);
      computeRun(b, start, begin.base, end);
    });
  });
}

/// The end of a chunk that may be shorter, the last of the sequence.
Value Elements::endOf(OpBuilder &b, LaneIndex begin, int64_t length) const {
  LaneMath lane(b, loc);
  Value end = lane.addConstant({begin.base, 0, 1}, length).base;
  if (!isSymbolic(count) &&
      (getConstantIntValue(begin.base) || count % length == 0))
    return end;
  return arith::MinSIOp::create(b, loc, end, lane.number(count));
}

void Elements::fillUp(OpBuilder &b, LaneIndex begin, int64_t length) const {
  LaneMath lane(b, loc);
  Value full = lane.addConstant({begin.base, 0, 1}, length).base;
  buildLoop(b, loc, endOf(b, begin, length), full, 1, [&](Value at) {
    for (auto [reducer, stage, root] : llvm::zip(reducers, stages, roots)) {
      Type element = tensorType(root.value).getElementType();
      Value neutral = ScalarBuilder(b, loc).identity(
          reducer.getOp().getReduction(), element);
      storeLanes(b, loc, neutral, stage, placeInStage(b, at));
    }
  });
}

/// At least the elements of [begin, end) in the run that starts with element
/// `run`: all of a short run, else vectors of which the last is moved down to
/// end where the run's part does, or to the run's start.
void Elements::computeRun(OpBuilder &b, Value run, Value begin,
                          Value end) const {
  LaneMath lane(b, loc);
  int64_t width =
      mayRepeat ? llvm::bit_floor(uint64_t(std::min(lanes, runLength))) : 1;
  SmallVector<Index> starts;
  for (const Root &root : roots)
    starts.push_back(runStart(b, root.value, run));
  if (takesWholeRuns()) {
    auto vector = [&](int64_t at) {
      computeInRun(b, run, starts, lane.number(at), width);
    };
    for (int64_t i = 0; i + width <= runLength; i += width)
      vector(i);
    if (runLength % width != 0)
      vector(runLength - width);
    return;
  }
  Value low = arith::MaxSIOp::create(b, loc, begin, run);
  Value high = lane.addConstant({run, 0, 1}, runLength).base;
  high = arith::MinSIOp::create(b, loc, end, high);
  auto compute = [&](int64_t width) {
    Value last = lane.addConstant({high, 0, 1}, -width).base;
    last = arith::MaxSIOp::create(b, loc, last, run);
    buildLoop(b, loc, low, high, width, [&](Value i) {
      Value at = width == 1 ? i : arith::MinSIOp::create(b, loc, i, last);
      computeInRun(b, run, starts, arith::SubIOp::create(b, loc, at, run),
                   width);
    });
  };
  if (width == 1 || !isSymbolic(runLength))
    return compute(width);
  // A run may turn out to be shorter than a vector.
  Value length = arith::SubIOp::create(b, loc, high, run);
  Value isLong = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                       length, lane.number(width));
  buildIf(b, loc, isLong, [&] { compute(width); }, [&] { compute(1); });
}

bool Elements::takesWholeRuns() const {
  auto &ops = body.getKernel().getBody().front().getOperations();
  return mayRepeat && runLength <= kShortRun * lanes && ops.size() <= 16;
}

int64_t Elements::stageMargin() const {
  return lanes + (takesWholeRuns() ? runLength : 0);
}

void Elements::computeInRun(OpBuilder &b, Value run, ArrayRef<Index> starts,
                            Value offset, int64_t width) const {
  FusedBody::Frame frame(body, b);
  LaneMath lane(b, loc);
  Value at = lane.add({run, 0, 1}, {offset, 0, 1}).base;
  Value place = reducers.empty() ? Value() : placeInStage(b, at);
  SmallVector<Value> values;
  for (auto [root, start] : llvm::zip(roots, starts))
    values.push_back(
        frame.at(root.value,
                 indexInRun(lane, root.value, start, {offset, 1, 1}), width));
  for (auto [r, root] : llvm::enumerate(roots)) {
    if (root.place)
      store(b, root, values[r], at);
    else
      storeLanes(b, loc, values[r], stages[r], place);
  }
}

void Elements::prefetch(OpBuilder &b, Value first, int64_t length) const {
  LaneMath lane(b, loc);
  for (const Stream &stream : streams) {
    int64_t bytes =
        cast<MemRefType>(stream.buffer.getType()).getElementTypeBitWidth() / 8;
    LaneIndex here = lane.add({stream.offset, 0, 1}, {first, 0, 1});
    int64_t ahead = stream.ahead ? stream.ahead : kFetchAhead / bytes;
    fetchMemory(b, stream.buffer, lane.addConstant(here, ahead),
                length * bytes);
  }
}

void fetchMemory(OpBuilder &b, Value buffer, LaneIndex from, int64_t bytes) {
  Location loc = buffer.getLoc();
  int64_t element =
      cast<MemRefType>(buffer.getType()).getElementTypeBitWidth() / 8;
  for (int64_t at = 0; at < bytes; at += kLineBytes)
    memref::PrefetchOp::create(
        b, loc, buffer, LaneMath(b, loc).addConstant(from, at / element).base,
        /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
}

void Elements::store(OpBuilder &b, const Root &root, Value value,
                     Value position) const {
  Location at = root.value.getLoc();
  Value where =
      LaneMath(b, at).add({root.place->offset, 0, 1}, {position, 0, 1}).base;
  storeLanes(b, at, value, root.place->buffer, where,
             root.nonTemporal && isa<VectorType>(value.getType()));
}

} // namespace tessera::lowering::cpu
