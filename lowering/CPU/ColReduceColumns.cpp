// ColReduce where the innermost dimension stays: vectors along it, and the
// tree's lanes in a block of memory.
//
// Four neighbouring rows of elements make a group; the groups of a chunk go to
// 16 rows of accumulators in turn. A block of columns is as wide as lets those
// rows stay in the first caches.
#include "lowering/CPU/ColReduce.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering::cpu {

namespace {

/// Bytes of accumulators of all reductions.
constexpr int64_t kAccumulatorBytes = 32 << 10;

class ColumnLaunches : public ColLaunches {
public:
  ColumnLaunches(const ColKernel &kernel, StringRef name,
                 const TargetInfo &target, ModuleOp module);

private:
  int64_t units(const Level &level) const override {
    return batches * level.chunks * blocks;
  }
  int64_t unitElements(const Level &level) const override {
    return std::min(level.count, kTreeChunk) * std::min(blockColumns, columns);
  }
  void emitUnit(const Level &level, Value unit) override;
  void clear();
  void addGroup(const Level &level, Value lane, Value firstRow, int64_t rows);
  void fold(const Level &level);
  void forColumns(llvm::function_ref<void(Value column, Value slot)> body);
  Term readGroup(const Level &level, FusedBody::Frame &frame,
                 const Reducer &reducer, size_t r,
                 ArrayRef<SmallVector<LaneIndex>> rows, ArrayRef<Value> numbers,
                 Value column);
  SmallVector<LaneIndex> indexOf(ArrayRef<LaneIndex> reduced, Value column);
  Value positionOf(Value column);

  SmallVector<int64_t> batchDims; ///< The kept dimensions outside the columns.
  int64_t batches = 1, columns, lanes;
  int64_t wholeColumns;         ///< Those in full vectors.
  int64_t blockColumns, blocks; ///< A block of columns is one unit's.
  int64_t width; ///< Of a row of accumulators: a block, and the last, shifted
                 ///< vector.
  // Of the unit at hand.
  Value batch, block, chunk;
  SmallVector<LaneIndex> batchIndex;
  SmallVector<TermBuffer> accumulators;
};

ColumnLaunches::ColumnLaunches(const ColKernel &kernel, StringRef name,
                               const TargetInfo &target, ModuleOp module)
    : ColLaunches(kernel, name, module) {
  int64_t inner = kernel.shape.size();
  while (kernel.shape[inner - 1] == 1)
    --inner;
  columns = kernel.shape[inner - 1];
  for (int64_t dim : kernel.keptDims)
    if (dim != inner - 1) {
      batchDims.push_back(dim);
      batches *= kernel.shape[dim];
    }
  lanes = kernel.lanes(target, columns);
  wholeColumns = columns / lanes * lanes;
  int64_t bytes = 0;
  for (const Reducer &reducer : kernel.reducers)
    bytes += reducer.bytes();
  blockColumns = std::max<int64_t>(
                     1, kAccumulatorBytes / (bytes * kTreeLanes) / lanes - 1) *
                 lanes;
  blocks = std::max<int64_t>(1, llvm::divideCeil(wholeColumns, blockColumns));
  width = std::min(blockColumns, wholeColumns) + lanes;
}

/// Runs `body` for each vector of the block's columns, with its place in a row
/// of accumulators. Where the columns do not divide into vectors, the last
/// vector is shifted to end with them, and has a place of its own.
void ColumnLaunches::forColumns(llvm::function_ref<void(Value, Value)> body) {
  Location loc = launch->loc();
  LaneMath lane(b(), loc);
  Value first = lane.mulConstant({block, 0, 1}, blockColumns).base;
  Value end = lane.addConstant({first, 0, 1}, blockColumns).base;
  end = arith::MinSIOp::create(b(), loc, end, lane.number(wholeColumns));
  buildLoop(b(), loc, first, end, lanes, [&](Value column) {
    body(column, arith::SubIOp::create(b(), loc, column, first));
  });
  if (columns == wholeColumns)
    return;
  auto last = [&] {
    body(lane.number(columns - lanes), lane.number(width - lanes));
  };
  if (blocks == 1)
    return last();
  Value isLast = arith::CmpIOp::create(b(), loc, arith::CmpIPredicate::eq,
                                       block, lane.number(blocks - 1));
  buildIf(b(), loc, isLast, last);
}

void ColumnLaunches::emitUnit(const Level &level, Value unit) {
  Location loc = launch->loc();
  LaneMath lane(b(), loc);
  block = lane.remainder(unit, blocks);
  Value rest = lane.divide(unit, blocks);
  chunk = lane.remainder(rest, level.chunks);
  batch = lane.divide(rest, level.chunks);
  batchIndex = *lane.delinearize({batch, 0, 1}, kernel.sizes(batchDims), 1);
  accumulators.clear();
  for (const Reducer &reducer : kernel.reducers)
    accumulators.push_back(stackTerms(b(), reducer, kTreeLanes * width));
  clear();
  Value firstRow = lane.mulConstant({chunk, 0, 1}, kTreeChunk).base;
  Value endRow = lane.addConstant({firstRow, 0, 1}, kTreeChunk).base;
  int64_t wholeRows = level.count / kTreeGroup * kTreeGroup;
  endRow = arith::MinSIOp::create(b(), loc, endRow, lane.number(wholeRows));
  buildLoop(b(), loc, firstRow, endRow, kTreeGroup, [&](Value row) {
    LaneMath inside(b(), loc);
    addGroup(level,
             inside.remainder(inside.divide(row, kTreeGroup), kTreeLanes), row,
             kTreeGroup);
  });
  if (int64_t left = level.count - wholeRows) {
    auto addRest = [&] {
      addGroup(level, lane.number(wholeRows / kTreeGroup % kTreeLanes),
               lane.number(wholeRows), left);
    };
    if (level.chunks == 1)
      addRest();
    else
      buildIf(b(), loc,
              arith::CmpIOp::create(b(), loc, arith::CmpIPredicate::eq, chunk,
                                    lane.number(level.chunks - 1)),
              addRest);
  }
  fold(level);
}

void ColumnLaunches::clear() {
  buildLoop(
      b(), launch->loc(), launch->number(0), launch->number(kTreeLanes * width),
      lanes, [&](Value at) {
        for (auto [reducer, buffer] : llvm::zip(kernel.reducers, accumulators))
          buffer.store(b(), launch->loc(), reducer.identity(b(), lanes), at);
      });
}

/// Adds up to four rows, from number `firstRow` of the reduced elements on, to
/// a row of accumulators.
void ColumnLaunches::addGroup(const Level &level, Value treeLane,
                              Value firstRow, int64_t rows) {
  Location loc = launch->loc();
  LaneMath lane(b(), loc);
  SmallVector<SmallVector<LaneIndex>> indices;
  SmallVector<Value> numbers;
  for (int64_t i = 0; i < rows; ++i) {
    LaneIndex row = lane.addConstant({firstRow, 0, 1}, i);
    numbers.push_back(row.base);
    indices.push_back(
        *lane.delinearize(row, kernel.sizes(kernel.reducedDims), 1));
  }
  Value accumulatorRow = lane.mulConstant({treeLane, 0, 1}, width).base;
  forColumns([&](Value column, Value slot) {
    FusedBody::Frame frame(*body, b());
    Value at = arith::AddIOp::create(b(), loc, accumulatorRow, slot);
    for (auto [r, reducer] : llvm::enumerate(kernel.reducers)) {
      Term group =
          readGroup(level, frame, reducer, r, indices, numbers, column);
      Term sum = reducer.combine(b(), accumulators[r].load(b(), loc, at, lanes),
                                 group);
      accumulators[r].store(b(), loc, sum, at);
    }
  });
}

Term ColumnLaunches::readGroup(const Level &level, FusedBody::Frame &frame,
                               const Reducer &reducer, size_t r,
                               ArrayRef<SmallVector<LaneIndex>> rows,
                               ArrayRef<Value> numbers, Value column) {
  LaneMath lane(b(), launch->loc());
  SmallVector<Term> terms;
  for (auto [index, number] : llvm::zip(rows, numbers)) {
    if (isFirst(level)) {
      Value value = frame.at(reducer.getOp()->getOperand(0),
                             indexOf(index, column), lanes);
      terms.push_back(reducer.load(b(), value, {number, 0, 1}));
      continue;
    }
    LaneIndex row =
        lane.add(lane.mulConstant({batch, 0, 1}, level.count), {number, 0, 1});
    LaneIndex at = lane.add(lane.mulConstant(row, columns), {column, 0, 1});
    terms.push_back(slots(level)[r].load(b(), launch->loc(), at.base, lanes));
  }
  Term left =
      terms.size() > 1 ? reducer.combine(b(), terms[0], terms[1]) : terms[0];
  if (terms.size() < 3)
    return left;
  Term right =
      terms.size() > 3 ? reducer.combine(b(), terms[2], terms[3]) : terms[2];
  return reducer.combine(b(), left, right);
}

/// The index of an operand's element, from its place among the reduced
/// dimensions, the unit's batch and its column.
SmallVector<LaneIndex> ColumnLaunches::indexOf(ArrayRef<LaneIndex> reduced,
                                               Value column) {
  SmallVector<LaneIndex> index(kernel.shape.size(),
                               LaneIndex{column, 1, lanes});
  for (auto [dim, part] : llvm::zip(kernel.reducedDims, reduced))
    index[dim] = part;
  for (auto [dim, part] : llvm::zip(batchDims, batchIndex))
    index[dim] = part;
  return index;
}

/// The flat position of a column's result.
Value ColumnLaunches::positionOf(Value column) {
  LaneMath lane(b(), launch->loc());
  return lane.add(lane.mulConstant({batch, 0, 1}, columns), {column, 0, 1})
      .base;
}

/// Folds the accumulators and hands the chunk's results on.
void ColumnLaunches::fold(const Level &level) {
  Location loc = launch->loc();
  forColumns([&](Value column, Value slot) {
    LaneMath lane(b(), loc);
    SmallVector<Term> results;
    for (auto [reducer, buffer] : llvm::zip(kernel.reducers, accumulators)) {
      SmallVector<Term> terms;
      for (int64_t i = 0; i < kTreeLanes; ++i)
        terms.push_back(buffer.load(
            b(), loc, lane.addConstant({slot, 0, 1}, i * width).base, lanes));
      results.push_back(reducer.foldLanes(b(), terms));
    }
    if (!isLast(level)) {
      LaneIndex row = lane.add(lane.mulConstant({batch, 0, 1}, level.chunks),
                               {chunk, 0, 1});
      Value at = lane.add(lane.mulConstant(row, columns), {column, 0, 1}).base;
      for (auto [result, buffer] : llvm::zip(results, slots(next(level))))
        buffer.store(b(), loc, result, at);
      return;
    }
    SmallVector<LaneIndex> index;
    for (int64_t dim : kernel.keptDims) {
      auto it = llvm::find(batchDims, dim);
      index.push_back(it == batchDims.end()
                          ? LaneIndex{column, 1, lanes}
                          : batchIndex[it - batchDims.begin()]);
    }
    storeResults(results, positionOf(column), index, lanes);
  });
}

} // namespace

void emitColumns(const ColKernel &kernel, StringRef name,
                 const TargetInfo &target, ModuleOp module) {
  ColumnLaunches(kernel, name, target, module).emit();
}

} // namespace tessera::lowering::cpu
