// The ColReduce emitter: reductions over leading, all, or any other dimensions.
//
// If the innermost dimension is reduced, 16 neighbouring threads take the
// elements of a chunk in turn. If it stays, a warp takes 32 neighbouring
// results, and the 16 lanes of the tree are warps, which meet in shared memory.
#include "lowering/Kernels/ColReduce.h"
#include "lowering/CodeGen/Formula.h"
#include "lowering/GPU/BlockLaunch.h"
#include "lowering/GPU/Emit.h"
#include "lowering/GPU/ReduceTree.h"
#include "lowering/Kernels/Runs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering::simt {

namespace {

/// Chunks that a block of the first form has in hand.
constexpr int64_t kBlockChunks = 8;

class BlockLaunches : public ColLaunches {
public:
  BlockLaunches(const ColKernel &kernel, StringRef name, ModuleOp module)
      : ColLaunches(kernel, name, module), keepsInner(kernel.keepsInnermost()) {
    int64_t first = kernel.shape.size();
    while (first > 0 && (kernel.shape[first - 1] == 1 ||
                         llvm::is_contained(kernel.reducedDims, first - 1)))
      --first;
    runLength = keepsInner || kernel.grows()
                    ? 1
                    : findRunLength(kernel.kernel, kernel.shape, first);
  }

private:
  Location loc() const { return launch->loc(); }
  BlockLaunch &block() { return static_cast<BlockLaunch &>(*launch); }

  void emitLevel(const Level &level, StringRef name) override {
    int64_t results = kernel.results;
    // Blocks along the results and, where these are few, along the chunks.
    int64_t perBlock = kWarp, chunks = 1, threads = kWarp * treeLanes(level);
    if (!keepsInner) {
      perBlock = isSymbolic(results)
                     ? kBlockChunks
                     : std::clamp<int64_t>(llvm::bit_floor(uint64_t(results)),
                                           1, kBlockChunks);
      chunks = kBlockChunks / perBlock;
      threads = kBlockChunks * kTreeLanes;
    }
    int64_t groups =
        isSymbolic(results) ? 0 : llvm::divideCeil(results, perBlock);
    runtime::SizeFormula grid =
        isSymbolic(results)
            ? ceilOf(results, perBlock, llvm::divideCeil(level.chunks, chunks))
            : unitsOf(level, groups, chunks);
    launch = std::make_unique<BlockLaunch>(module, kernel.kernel, name, grid,
                                           threads, workspace);
    body.emplace(kernel.kernel, launch->inputs());
    body->alignBuffers();
    if (results != 0)
      emitBlock(level, perBlock, chunks);
    launch->finish();
  }

  /// The warps of a block of the second form: no more than there are groups.
  int64_t treeLanes(const Level &level) const {
    if (kernel.grows())
      return kTreeLanes;
    return std::clamp<int64_t>(llvm::divideCeil(level.count, kTreeGroup), 1,
                               kTreeLanes);
  }

  void emitBlock(const Level &level, int64_t perBlock, int64_t chunks) {
    LaneMath lane(b(), loc());
    // Blocks number the groups of chunks, and inside the groups of results.
    Value groupOfResults, groupOfChunks;
    if (isSymbolic(kernel.results)) {
      // Chunks are few then, and known: they are inside.
      int64_t count = llvm::divideCeil(level.chunks, chunks);
      groupOfResults = lane.divide(block().block(), count);
      groupOfChunks = lane.remainder(block().block(), count);
    } else {
      int64_t count = llvm::divideCeil(kernel.results, perBlock);
      groupOfResults = lane.remainder(block().block(), count);
      groupOfChunks = lane.divide(block().block(), count);
    }
    result = lane.mulConstant({groupOfResults, 0, 1}, perBlock).base;
    chunk = lane.mulConstant({groupOfChunks, 0, 1}, chunks).base;
    Value thread = block().thread();
    if (keepsInner) {
      treeLane = lane.divide(thread, kWarp);
      result = add(result, lane.remainder(thread, kWarp));
    } else {
      treeLane = lane.remainder(thread, kTreeLanes);
      Value unit = lane.divide(thread, kTreeLanes);
      result = add(result, lane.remainder(unit, perBlock));
      chunk = add(chunk, lane.divide(unit, perBlock));
    }
    // Threads beyond the results compute the last one again and drop it, since
    // they must take part in what the warp does together.
    Value all = lane.number(kernel.results);
    isResult = less(result, all);
    result = arith::MinSIOp::create(
        b(), loc(), result,
        arith::SubIOp::create(b(), loc(), all, lane.number(1)));
    if (chunks > 1)
      isResult = arith::AndIOp::create(b(), loc(), isResult,
                                       less(chunk, chunksOf(level)));
    keepsInner ? emitColumns(level) : emitSequence(level);
  }

  Value add(Value x, Value y) {
    return arith::AddIOp::create(b(), loc(), x, y);
  }
  Value less(Value x, Value y) {
    return arith::CmpIOp::create(b(), loc(), arith::CmpIPredicate::slt, x, y);
  }

  SmallVector<Term> partOfLane(const Level &level) {
    if (!kernel.grows() && level.count == 0)
      return SmallVector<Term>(kernel.reducers.size());
    LaneMath lane(b(), loc());
    Value begin = lane.mulConstant({chunk, 0, 1}, kTreeChunk).base;
    SmallVector<TermBuffer> buffers;
    if (!isFirst(level))
      buffers = slots(level);
    Sequence elements{loc(),
                      kernel.reducers,
                      level.count,
                      kernel.grows() ? countOf(level) : Value(),
                      isFirst(level) && runLength % kTreeGroup == 0,
                      [&](OpBuilder &b, LaneIndex first, int64_t lanes) {
                        return isFirst(level)
                                   ? elementsAt(b, first, lanes)
                                   : slotsAt(b, level, buffers, first.base);
                      }};
    return combineLane(b(), elements, begin, treeLane);
  }

  SmallVector<Term> elementsAt(OpBuilder &b, LaneIndex first, int64_t lanes) {
    LaneMath lane(b, loc());
    FusedBody::Frame frame(*body, b);
    LaneIndex at = first;
    at.step = 0;
    SmallVector<LaneIndex> index = kernel.indexOf(b, result, at);
    first.step = lanes > 1;
    SmallVector<Term> terms;
    for (const Reducer &reducer : kernel.reducers) {
      Value operand = reducer.getOp()->getOperand(0);
      SmallVector<LaneIndex> where = index;
      if (lanes > 1)
        where = indexInRun(lane, operand, index, {lane.number(0), 1, 0});
      terms.push_back(reducer.load(b, frame.at(operand, where, lanes), first));
    }
    return terms;
  }

  /// The place of a chunk's term of this result, in the workspace that the next
  /// level reads. Neighbouring threads have neighbouring places.
  Value slotOf(OpBuilder &b, const Level &read, Value term) {
    LaneMath lane(b, loc());
    if (keepsInner)
      return lane
          .add(lane.mulConstant({term, 0, 1}, kernel.results), {result, 0, 1})
          .base;
    return lane.add(timesCount({result, 0, 1}, read), {term, 0, 1}).base;
  }

  SmallVector<Term> slotsAt(OpBuilder &b, const Level &level,
                            ArrayRef<TermBuffer> buffers, Value term) {
    Value slot = slotOf(b, level, term);
    SmallVector<Term> terms;
    for (const TermBuffer &buffer : buffers)
      terms.push_back(buffer.load(b, loc(), slot, 1));
    return terms;
  }

  /// The second form: thread t of warp w is lane w of the tree, of result t.
  void emitColumns(const Level &level) {
    SmallVector<Term> terms = partOfLane(level);
    int64_t lanes = treeLanes(level);
    if (lanes > 1) {
      LaneMath lane(b(), loc());
      SmallVector<TermBuffer> buffers;
      for (auto [reducer, term] : llvm::zip(kernel.reducers, terms)) {
        buffers.push_back(layOut(reducer, [&](int64_t, Type element) {
          return block().shared(element, lanes * kWarp);
        }));
        buffers.back().store(b(), loc(), term, block().thread());
      }
      block().barrier();
      launch->openIf(less(block().thread(), lane.number(kWarp)));
      for (auto [i, reducer] : llvm::enumerate(kernel.reducers)) {
        SmallVector<Term> all;
        for (int64_t l = 0; l < lanes; ++l) {
          Value at = LaneMath(b(), loc())
                         .addConstant({block().thread(), 0, 1}, l * kWarp)
                         .base;
          all.push_back(buffers[i].load(b(), loc(), at, 1));
        }
        terms[i] = reducer.foldLanes(b(), all);
      }
    }
    launch->openIf(isResult);
    handOn(level, terms);
  }

  void emitSequence(const Level &level) {
    SmallVector<Term> terms = partOfLane(level);
    bool isEmpty = !kernel.grows() && level.count == 0;
    if (!isEmpty)
      for (auto [reducer, term] : llvm::zip(kernel.reducers, terms))
        term = foldThreads(b(), loc(), reducer, term);
    Value zero = LaneMath(b(), loc()).number(0);
    Value isFirstLane = arith::CmpIOp::create(
        b(), loc(), arith::CmpIPredicate::eq, treeLane, zero);
    launch->openIf(arith::AndIOp::create(b(), loc(), isFirstLane, isResult));
    handOn(level, terms);
  }

  /// A chunk's terms go to the next level, or into the result.
  void handOn(const Level &level, ArrayRef<Term> terms) {
    if (isLast(level)) {
      LaneMath lane(b(), loc());
      auto index =
          *lane.delinearize({result, 0, 1}, kernel.sizes(kernel.keptDims), 1);
      return storeResults(terms, result, index, 1);
    }
    const Level &reader = next(level);
    Value slot = slotOf(b(), reader, chunk);
    for (auto [term, buffer] : llvm::zip(terms, slots(reader)))
      buffer.store(b(), loc(), term, slot);
  }

  bool keepsInner;
  int64_t runLength;
  // Of the thread.
  Value result, chunk, treeLane, isResult;
};

} // namespace

LogicalResult emitColReduce(KernelOp op, StringRef name, ModuleOp module) {
  ColKernel kernel(op);
  if (failed(kernel.analyse()))
    return failure();
  BlockLaunches(kernel, name, module).emit();
  return success();
}

} // namespace tessera::lowering::simt
