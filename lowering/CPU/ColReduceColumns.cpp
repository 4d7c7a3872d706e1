// ColReduce where the innermost dimension stays: vectors along it, and the
// tree's lanes in a block of memory.
//
// Four neighbouring rows of elements make a group; the groups of a chunk go to
// 16 rows of accumulators in turn. A block of columns is as wide as lets those
// rows stay in the first caches.
#include "lowering/CPU/ColReduce.h"
#include "lowering/CPU/Emit.h"
#include "lowering/CPU/ReduceTreeElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <numeric>

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering::cpu {

namespace {

/// Bytes of accumulators of all reductions, at least: they then stay in the
/// first-level cache; and at most, since they lie on the stack.
constexpr int64_t kLeastAccumulatorBytes = 32 << 10,
                  kMostAccumulatorBytes = 256 << 10;
/// Up to this many vectors of columns are written out instead of looped over.
constexpr int64_t kStraightVectors = 4;
/// Up to this many ops are written out for all rows of a short column.
constexpr int64_t kStraightOps = 256;
/// Bytes of a group up to which the next one is fetched ahead.
constexpr int64_t kFarthestFetch = 16 << 10;

class ColumnLaunches : public TiledColLaunches {
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
  /// One of the reduced elements: its number, and its index in the reduced
  /// dimensions or, of a further level, the position of its first column.
  struct Row {
    Value number;
    SmallVector<LaneIndex> index;
    LaneIndex start;
  };
  using Rows = SmallVector<Row>;

  void findColumns();
  void emitUnit(const Level &level, Value unit) override;
  bool isShort(const Level &level) const;
  void addLastRows(const Level &level, Value count, Value wholeEnd);
  bool fetchesAhead(const Level &level) const;
  void fetchAhead(Value start, Value column);
  void combineAtOnce(const Level &level);
  void clear();
  void addGroup(const Level &level, Value treeLane, Value firstRow,
                int64_t count);
  void fold(const Level &level);
  void finishColumn(const Level &level, Value column, ArrayRef<Term> results);
  void forColumns(llvm::function_ref<void(Value column, Value slot)> body);
  Rows rowsFrom(const Level &level, Value first, int64_t count);
  Term readGroup(const Level &level, FusedBody::Frame &frame, size_t r,
                 ArrayRef<Row> rows, Value column);
  SmallVector<LaneIndex> indexOf(ArrayRef<LaneIndex> reduced, Value column);
  SmallVector<LaneIndex> resultIndex(Value column);

  const TargetInfo &target;
  SmallVector<int64_t> batchDims; ///< The kept dimensions outside the columns.
  int64_t batches = 1, columns, lanes;
  int64_t innermost;            ///< The dimension that columns move in.
  int64_t wholeColumns;         ///< Those in full vectors.
  int64_t blockColumns, blocks; ///< A block of columns is one unit's.
  int64_t width; ///< Of a row of accumulators: a block, and the last, shifted
                 ///< vector.
  // Of the unit at hand.
  Value batch, block, chunk;
  Value blockStart, blockEnd; ///< Its first column, and its number of columns.
  SmallVector<LaneIndex> batchIndex;
  SmallVector<TermBuffer> accumulators, from, to;
};

ColumnLaunches::ColumnLaunches(const ColKernel &kernel, StringRef name,
                               const TargetInfo &target, ModuleOp module)
    : TiledColLaunches(kernel, name, module), target(target) {
  findColumns();
  lanes = lanesOf(kernel, target, columns);
  wholeColumns = columns / lanes * lanes;
  int64_t bytes = 0;
  for (const Reducer &reducer : kernel.reducers)
    bytes += reducer.bytes();
  // As few blocks as the budget allows, of about the same size.
  int64_t vectors = std::max<int64_t>(1, wholeColumns / lanes);
  // From memory, long pieces of rows come faster than short ones: that is worth
  // accumulators in the second-level cache.
  int64_t budget = kLeastAccumulatorBytes;
  if (inputBytes(kernel.kernel) > target.l2)
    budget = std::clamp(target.l2 / 2, budget, kMostAccumulatorBytes);
  int64_t most = std::max<int64_t>(1, budget / (bytes * kTreeLanes * lanes));
  blocks = llvm::divideCeil(vectors, most);
  blockColumns = llvm::divideCeil(vectors, blocks) * lanes;
  blocks = llvm::divideCeil(vectors * lanes, blockColumns);
  width = blockColumns + (columns > wholeColumns ? lanes : 0);
}

/// The kept dimensions at the end are one, as far as no op tells them apart.
void ColumnLaunches::findColumns() {
  auto isKept = [&](int64_t dim) {
    return llvm::is_contained(kernel.keptDims, dim);
  };
  innermost = kernel.shape.size() - 1;
  while (kernel.shape[innermost] == 1)
    --innermost;
  int64_t first = innermost;
  while (first > 0 && (isKept(first - 1) || kernel.shape[first - 1] == 1))
    --first;
  SmallVector<int64_t> resultShape = kernel.sizes(kernel.keptDims);
  int64_t batchCount =
      llvm::count_if(kernel.keptDims, [&](int64_t dim) { return dim < first; });
  int64_t together =
      std::gcd(findRunLength(kernel.kernel, kernel.shape, first),
               findRunLength(kernel.kernel, resultShape, batchCount));
  auto product = [&](int64_t from) {
    return ShapedType::getNumElements(ArrayRef(kernel.shape).drop_front(from));
  };
  while (first < innermost &&
         (kernel.results == 0 || together % product(first) != 0))
    ++first;
  columns = product(first);
  for (int64_t dim : kernel.keptDims)
    if (dim < first) {
      batchDims.push_back(dim);
      batches *= kernel.shape[dim];
    }
}

/// Runs `body` for each vector of the block's columns, with its place in a row
/// of accumulators. Where the columns do not divide into vectors, the last
/// vector is shifted to end with them, and has a place of its own.
void ColumnLaunches::forColumns(llvm::function_ref<void(Value, Value)> body) {
  Location loc = launch->loc();
  LaneMath lane(b(), loc);
  if (blocks == 1 && wholeColumns <= kStraightVectors * lanes) {
    for (int64_t at = 0; at < wholeColumns; at += lanes)
      body(lane.number(at), lane.number(at));
  } else {
    buildLoop(b(), loc, lane.number(0), blockEnd, lanes, [&](Value slot) {
      body(lane.add({blockStart, 0, 1}, {slot, 0, 1}).base, slot);
    });
  }
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
  if (kernel.grows()) {
    Value chunks = chunksOf(level);
    chunk = arith::RemUIOp::create(b(), loc, rest, chunks);
    batch = arith::DivUIOp::create(b(), loc, rest, chunks);
  } else {
    chunk = lane.remainder(rest, level.chunks);
    batch = lane.divide(rest, level.chunks);
  }
  blockStart = lane.number(0);
  blockEnd = lane.number(wholeColumns);
  if (blocks > 1) {
    blockStart = lane.mulConstant({block, 0, 1}, blockColumns).base;
    blockEnd = arith::SubIOp::create(b(), loc, blockEnd, blockStart);
    blockEnd =
        arith::MinSIOp::create(b(), loc, blockEnd, lane.number(blockColumns));
  }
  batchIndex = *lane.delinearize({batch, 0, 1}, kernel.sizes(batchDims), 1);
  from = isFirst(level) ? SmallVector<TermBuffer>() : slots(level);
  to = isLast(level) ? SmallVector<TermBuffer>() : slots(next(level));
  if (isShort(level))
    return combineAtOnce(level);
  accumulators.clear();
  for (const Reducer &reducer : kernel.reducers)
    accumulators.push_back(stackTerms(b(), reducer, kTreeLanes * width));
  clear();
  Value firstRow = lane.mulConstant({chunk, 0, 1}, kTreeChunk).base;
  Value endRow = lane.addConstant({firstRow, 0, 1}, kTreeChunk).base;
  int64_t wholeRows = level.count / kTreeGroup * kTreeGroup;
  Value count, wholeEnd;
  if (kernel.grows()) {
    count = countOf(level);
    wholeEnd =
        lane.mulConstant({lane.divide(count, kTreeGroup), 0, 1}, kTreeGroup)
            .base;
  } else {
    wholeEnd = lane.number(wholeRows);
  }
  endRow = arith::MinSIOp::create(b(), loc, endRow, wholeEnd);
  buildLoop(b(), loc, firstRow, endRow, kTreeGroup, [&](Value row) {
    LaneMath inside(b(), loc);
    addGroup(level,
             inside.remainder(inside.divide(row, kTreeGroup), kTreeLanes), row,
             kTreeGroup);
  });
  if (kernel.grows())
    addLastRows(level, count, wholeEnd);
  else if (int64_t left = level.count - wholeRows) {
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

/// The last group of a number of rows that depends on a symbol.
void ColumnLaunches::addLastRows(const Level &level, Value count,
                                 Value wholeEnd) {
  Location loc = launch->loc();
  LaneMath lane(b(), loc);
  auto equal = [&](Value x, Value y) {
    return arith::CmpIOp::create(b(), loc, arith::CmpIPredicate::eq, x, y);
  };
  Value left = arith::SubIOp::create(b(), loc, count, wholeEnd);
  Value isLast = equal(chunk, lane.divide(count, kTreeChunk));
  Value treeLane =
      lane.remainder(lane.divide(wholeEnd, kTreeGroup), kTreeLanes);
  for (int64_t rows = 1; rows < kTreeGroup; ++rows)
    buildIf(
        b(), loc,
        arith::AndIOp::create(b(), loc, isLast, equal(left, lane.number(rows))),
        [&] { addGroup(level, treeLane, wholeEnd, rows); });
}

void ColumnLaunches::clear() {
  buildLoop(
      b(), launch->loc(), launch->number(0), launch->number(kTreeLanes * width),
      lanes, [&](Value at) {
        for (auto [reducer, buffer] : llvm::zip(kernel.reducers, accumulators))
          buffer.store(b(), launch->loc(), reducer.identity(b(), lanes), at);
      });
}

/// Whether each of the tree's lanes gets one group at most, and the code of all
/// rows is small enough to be written out.
bool ColumnLaunches::isShort(const Level &level) const {
  if (kernel.grows())
    return false;
  int64_t ops = kernel.kernel.getBody().front().getOperations().size();
  return level.count <= kTreeLanes * kTreeGroup &&
         level.count * ops <= kStraightOps;
}

ColumnLaunches::Rows ColumnLaunches::rowsFrom(const Level &level, Value first,
                                              int64_t count) {
  LaneMath lane(b(), launch->loc());
  Rows rows;
  for (int64_t i = 0; i < count; ++i) {
    LaneIndex at = lane.addConstant({first, 0, 1}, i);
    Row row{at.base, {}, {}};
    if (isFirst(level))
      row.index = *lane.delinearize(at, kernel.sizes(kernel.reducedDims), 1);
    else
      row.start = lane.mulConstant(
          lane.add(timesCount({batch, 0, 1}, level), at), columns);
    rows.push_back(row);
  }
  return rows;
}

/// The few rows of a unit in registers.
void ColumnLaunches::combineAtOnce(const Level &level) {
  Rows rows = rowsFrom(level, launch->number(0), level.count);
  forColumns([&](Value column, Value) {
    FusedBody::Frame frame(*body, b());
    SmallVector<Term> results;
    for (auto [r, reducer] : llvm::enumerate(kernel.reducers)) {
      SmallVector<Term> groups;
      for (ArrayRef<Row> left = rows; !left.empty();) {
        ArrayRef<Row> group = left.take_front(kTreeGroup);
        groups.push_back(readGroup(level, frame, r, group, column));
        left = left.drop_front(group.size());
      }
      if (groups.empty())
        groups.push_back(reducer.identity(b(), lanes));
      results.push_back(reducer.foldLanes(b(), groups));
    }
    finishColumn(level, column, results);
  });
}

/// Short rows follow each other in memory, but four of them at a time are more
/// than the CPU sees as a stream.
bool ColumnLaunches::fetchesAhead(const Level &level) const {
  return isFirst(level) && blocks == 1 && batches == 1 &&
         columns * kTreeGroup * 4 <= kFarthestFetch &&
         inputBytes(kernel.kernel) > target.l2;
}

/// Fetches a part of the memory of a group some way ahead: over all columns of
/// this group, all of that one.
void ColumnLaunches::fetchAhead(Value start, Value column) {
  LaneMath lane(b(), launch->loc());
  LaneIndex here =
      lane.add({start, 0, 1}, lane.mulConstant({column, 0, 1}, kTreeGroup));
  for (auto [input, buffer] :
       llvm::zip(kernel.kernel.getInputs(), launch->inputs()))
    if (tensorType(input).getShape() == ArrayRef(kernel.shape)) {
      int64_t bytes =
          cast<MemRefType>(buffer.getType()).getElementTypeBitWidth() / 8;
      int64_t group = columns * kTreeGroup;
      int64_t ahead = llvm::divideCeil(kFetchAhead, group * bytes) * group;
      fetchMemory(b(), buffer, lane.addConstant(here, ahead),
                  kTreeGroup * lanes * bytes);
    }
}

/// Adds up to four rows, from number `firstRow` of the reduced elements on, to
/// a row of accumulators.
void ColumnLaunches::addGroup(const Level &level, Value treeLane,
                              Value firstRow, int64_t count) {
  Location loc = launch->loc();
  Rows rows = rowsFrom(level, firstRow, count);
  Value accumulatorRow =
      LaneMath(b(), loc).mulConstant({treeLane, 0, 1}, width).base;
  Value start = LaneMath(b(), loc).mulConstant({firstRow, 0, 1}, columns).base;
  forColumns([&](Value column, Value slot) {
    if (fetchesAhead(level) && count == kTreeGroup)
      fetchAhead(start, column);
    FusedBody::Frame frame(*body, b());
    Value at = arith::AddIOp::create(b(), loc, accumulatorRow, slot);
    for (auto [r, reducer] : llvm::enumerate(kernel.reducers)) {
      Term group = readGroup(level, frame, r, rows, column);
      Term sum = reducer.combine(b(), accumulators[r].load(b(), loc, at, lanes),
                                 group);
      accumulators[r].store(b(), loc, sum, at);
    }
  });
}

Term ColumnLaunches::readGroup(const Level &level, FusedBody::Frame &frame,
                               size_t r, ArrayRef<Row> rows, Value column) {
  LaneMath lane(b(), launch->loc());
  const Reducer &reducer = kernel.reducers[r];
  SmallVector<Term> terms;
  for (const Row &row : rows) {
    if (isFirst(level)) {
      Value value = frame.at(reducer.getOp()->getOperand(0),
                             indexOf(row.index, column), lanes);
      terms.push_back(reducer.load(b(), value, {row.number, 0, 1}));
      continue;
    }
    Value at = lane.add(row.start, {column, 0, 1}).base;
    terms.push_back(from[r].load(b(), launch->loc(), at, lanes));
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
  LaneMath lane(b(), launch->loc());
  SmallVector<LaneIndex> index(kernel.shape.size(), lane.constant(0));
  for (auto [dim, part] : llvm::zip(kernel.reducedDims, reduced))
    index[dim] = part;
  for (auto [dim, part] : llvm::zip(batchDims, batchIndex))
    index[dim] = part;
  index[innermost] = {column, 1, lanes};
  return index;
}

/// The index of a column's result.
SmallVector<LaneIndex> ColumnLaunches::resultIndex(Value column) {
  SmallVector<LaneIndex> index, whole = indexOf({}, column);
  for (int64_t dim : kernel.keptDims)
    index.push_back(whole[dim]);
  return index;
}

/// Folds the accumulators to the chunk's results.
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
    finishColumn(level, column, results);
  });
}

/// Hands a chunk's results on to the next level, or computes the outputs.
void ColumnLaunches::finishColumn(const Level &level, Value column,
                                  ArrayRef<Term> results) {
  LaneMath lane(b(), launch->loc());
  if (isLast(level)) {
    Value position =
        lane.add(lane.mulConstant({batch, 0, 1}, columns), {column, 0, 1}).base;
    storeResults(results, position, resultIndex(column), lanes);
    return;
  }
  LaneIndex row = lane.add(timesChunks({batch, 0, 1}, level), {chunk, 0, 1});
  Value at = lane.add(lane.mulConstant(row, columns), {column, 0, 1}).base;
  for (auto [result, buffer] : llvm::zip(results, to))
    buffer.store(b(), launch->loc(), result, at);
}

} // namespace

void emitColumns(const ColKernel &kernel, StringRef name,
                 const TargetInfo &target, ModuleOp module) {
  ColumnLaunches(kernel, name, target, module).emit();
}

} // namespace tessera::lowering::cpu
