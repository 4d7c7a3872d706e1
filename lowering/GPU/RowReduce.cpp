// The RowReduce emitter: reductions over trailing dimensions, and what is
// computed from them along the same rows.
//
// A row of at most one chunk is that of 16 neighbouring threads, which need no
// shared memory to reduce it; a longer one is that of a block, whose chunks'
// terms meet in shared memory or, of a very long row, in the workspace. A row
// is walked once for each pass of the plan. Costly elements that a later walk
// needs again wait in shared memory, each for the thread that computed it.
#include "lowering/GPU/BlockLaunch.h"
#include "lowering/GPU/Emit.h"
#include "lowering/GPU/ReduceTree.h"
#include "lowering/Kernels/FusedBody.h"
#include "lowering/Kernels/RowReducePlan.h"
#include "lowering/Kernels/Runs.h"
#include "lowering/Kernels/Symbolic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tessera::ir;
using tessera::runtime::SizeFormula;

namespace tessera::lowering::simt {

namespace {

constexpr int64_t kShortThreads = 128, kLongThreads = 256;
/// Blocks side by side that registers must suffice for: up to 128 and 80 a
/// thread.
constexpr int64_t kShortBlocks = 4, kLongBlocks = 3;
/// Shared memory for the elements that wait, of all rows of a block, and for
/// the terms of a row's chunks, of all passes.
constexpr int64_t kKeptBytes = 32 << 10, kTermsBytes = 12 << 10;

class RowReduceEmitter {
public:
  RowReduceEmitter(KernelOp kernel, StringRef name, ModuleOp module,
                   const RowPlan &plan)
      : plan(plan), isShort(plan.cols <= kTreeChunk),
        rowsPerBlock(isShort ? kShortThreads / kTreeLanes : 1),
        workers((isShort ? kShortThreads : kLongThreads) / kTreeLanes),
        hasVectors(plan.runLength % kTreeGroup == 0 &&
                   plan.cols % kTreeGroup == 0),
        rowBytes(workspaceBytes()),
        launch(module, kernel, name,
               plan.rows == 0 ? SizeFormula() : ceilOf(plan.rows, rowsPerBlock),
               workers * kTreeLanes, ceilOf(plan.rows, 1, rowBytes)),
        body(kernel, launch.inputs()) {
    launch.sideBySide(isShort ? kShortBlocks : kLongBlocks);
    body.alignBuffers();
  }

  void emit() {
    if (plan.rows != 0)
      emitRow();
    launch.finish();
  }

private:
  OpBuilder &b() { return launch.body(); }
  Location loc() { return launch.loc(); }

  void findRow();
  void emitRow();
  void emitPass(const RowPass &pass);
  void storeRowOutputs();
  SmallVector<Term> combineRow(Sequence elements);
  void forRow(const Sequence &elements, const RowPass &pass);
  SmallVector<TermBuffer> termBuffers(ArrayRef<Reducer> reducers,
                                      int64_t count);
  int64_t workspaceBytes() const;
  void storeElements(FusedBody::Frame &frame, const RowPass &pass,
                     LaneIndex first, int64_t lanes);
  void makeRoomFor(const RowPass &pass);
  LaneIndex keptPosition(OpBuilder &b, LaneIndex position);
  void supplyKept(Value value);
  Value elementAt(FusedBody::Frame &frame, Value value, LaneIndex first,
                  int64_t lanes);
  Value atRow(FusedBody::Frame &frame, Value value);

  const RowPlan &plan;
  bool isShort;
  int64_t rowsPerBlock, workers;
  bool hasVectors;
  int64_t rowBytes; ///< Of the workspace.
  BlockLaunch launch;
  FusedBody body;
  int64_t keptBytes = 0, sharedBytes = 0, rowBytesUsed = 0;
  llvm::DenseMap<Value, Value> keptRows;
  // Of the thread: its row, and whether that is its own; its place among the 16
  // that reduce a chunk, and their number in the block.
  Value row, isOwn, treeLane, worker;
};

//===- Where terms wait --------------------------------------------------===//

int64_t termBytes(ArrayRef<Reducer> reducers, int64_t count) {
  int64_t bytes = 0;
  for (const Reducer &reducer : reducers)
    bytes += llvm::alignTo(count * reducer.bytes(), 64);
  return bytes;
}

SmallVector<Reducer> reducersOf(const RowPass &pass, int64_t cols) {
  SmallVector<Reducer> reducers;
  for (ReduceOp reduce : pass.reduces)
    reducers.emplace_back(reduce, cols);
  return reducers;
}

/// What a row takes of the workspace: the levels whose terms are too many for
/// shared memory.
int64_t RowReduceEmitter::workspaceBytes() const {
  int64_t bytes = 0, shared = 0;
  for (const RowPass &pass : plan.passes) {
    SmallVector<Reducer> reducers = reducersOf(pass, plan.cols);
    for (int64_t count = plan.cols; count > kTreeChunk;) {
      count = llvm::divideCeil(count, kTreeChunk);
      int64_t level = termBytes(reducers, count);
      (shared + level <= kTermsBytes ? shared : bytes) += level;
    }
  }
  return bytes;
}

SmallVector<TermBuffer>
RowReduceEmitter::termBuffers(ArrayRef<Reducer> reducers, int64_t count) {
  int64_t bytes = termBytes(reducers, count);
  bool isShared = sharedBytes + bytes <= kTermsBytes;
  sharedBytes += isShared ? bytes : 0;
  LaneMath lane(b(), loc());
  LaneIndex start = lane.mulConstant({row, 0, 1}, rowBytes);
  SmallVector<TermBuffer> buffers;
  for (const Reducer &reducer : reducers) {
    buffers.push_back(layOut(reducer, [&](int64_t before, Type element) {
      if (isShared)
        return launch.shared(element, count);
      Value from = lane.addConstant(start, rowBytesUsed + count * before).base;
      return workspacePart(b(), loc(), launch.workspace(), from, element,
                           count);
    }));
    if (!isShared)
      rowBytesUsed += llvm::alignTo(count * reducer.bytes(), 64);
  }
  return buffers;
}

//===- Rows --------------------------------------------------------------===//

void RowReduceEmitter::findRow() {
  LaneMath lane(b(), loc());
  treeLane = lane.remainder(launch.thread(), kTreeLanes);
  worker = lane.divide(launch.thread(), kTreeLanes);
  row = launch.block();
  if (!isShort)
    return;
  // Threads beyond the last row compute it again and drop it, since they must
  // take part in what the warp does together.
  row = lane.add(lane.mulConstant({row, 0, 1}, rowsPerBlock), {worker, 0, 1})
            .base;
  isOwn = arith::CmpIOp::create(b(), loc(), arith::CmpIPredicate::slt, row,
                                lane.number(plan.rows));
  Value last =
      arith::SubIOp::create(b(), loc(), lane.number(plan.rows), lane.number(1));
  row = arith::MinSIOp::create(b(), loc(), row, last);
}

void RowReduceEmitter::emitRow() {
  findRow();
  for (auto [index, pass] : llvm::enumerate(plan.passes)) {
    FusedBody::Frame frame(body, b());
    for (Value value : plan.rowValues)
      if (plan.level(value) == int(index))
        body.supplyScalar(value, atRow(frame, value));
    emitPass(pass);
  }
  storeRowOutputs();
}

/// One thread stores what there is once a row.
void RowReduceEmitter::storeRowOutputs() {
  LaneMath lane(b(), loc());
  Value stores = arith::CmpIOp::create(b(), loc(), arith::CmpIPredicate::eq,
                                       isShort ? treeLane : launch.thread(),
                                       lane.number(0));
  if (isOwn)
    stores = arith::AndIOp::create(b(), loc(), stores, isOwn);
  buildIf(b(), loc(), stores, [&] {
    FusedBody::Frame frame(body, b());
    for (unsigned output : plan.rowOutputs)
      storeLanes(b(), loc(), atRow(frame, plan.outputs[output]),
                 launch.outputs()[output], row);
  });
}

/// A value of one element a row, at this row.
Value RowReduceEmitter::atRow(FusedBody::Frame &frame, Value value) {
  return frame.at(value, RowPlan::indexOfRow(b(), value, row), 1);
}

/// Elements of this row.
Value RowReduceEmitter::elementAt(FusedBody::Frame &frame, Value value,
                                  LaneIndex first, int64_t lanes) {
  first.step = 0;
  SmallVector<LaneIndex> index = plan.indexOf(b(), value, row, first);
  if (lanes > 1) {
    LaneMath lane(b(), value.getLoc());
    index = indexInRun(lane, value, index, {lane.number(0), 1, 0});
  }
  return frame.at(value, index, lanes);
}

//===- Passes ------------------------------------------------------------===//

/// One walk; afterwards the reduced values are known.
void RowReduceEmitter::emitPass(const RowPass &pass) {
  SmallVector<Reducer> reducers = reducersOf(pass, plan.cols);
  if (plan.cols == 0) {
    for (const Reducer &reducer : reducers)
      body.supplyScalar(reducer.getOp().getY(), reducer.resultOfNothing(b()));
    return;
  }
  makeRoomFor(pass);
  Sequence elements{
      loc(),
      reducers,
      plan.cols,
      Value(),
      hasVectors,
      [&](OpBuilder &b, LaneIndex first, int64_t lanes) {
        FusedBody::Frame frame(body, b);
        LaneIndex position = first;
        position.step = lanes > 1;
        SmallVector<Term> terms;
        for (const Reducer &reducer : reducers)
          terms.push_back(reducer.load(
              b, elementAt(frame, reducer.getOp()->getOperand(0), first, lanes),
              position));
        storeElements(frame, pass, first, lanes);
        return terms;
      }};
  if (reducers.empty()) {
    forRow(elements, pass);
  } else {
    SmallVector<Term> terms = combineRow(elements);
    for (auto [reducer, term] : llvm::zip(reducers, terms))
      body.supplyScalar(reducer.getOp().getY(), reducer.result(b(), term));
  }
  for (Value value : pass.kept)
    if (keptRows.contains(value))
      supplyKept(value);
}

/// The row's terms, for all of its threads. Chunks' terms are combined by the
/// same rule; the last ones by each 16 threads, so that all have the result.
SmallVector<Term> RowReduceEmitter::combineRow(Sequence elements) {
  ArrayRef<Reducer> reducers = elements.reducers;
  LaneMath lane(b(), loc());
  Value isFirst = arith::CmpIOp::create(b(), loc(), arith::CmpIPredicate::eq,
                                        treeLane, lane.number(0));
  auto combine = [&](Value begin) {
    SmallVector<Term> terms = combineLane(b(), elements, begin, treeLane);
    for (auto [reducer, term] : llvm::zip(reducers, terms))
      term = foldThreads(b(), loc(), reducer, term);
    return terms;
  };
  while (elements.count > kTreeChunk) {
    int64_t chunks = llvm::divideCeil(elements.count, kTreeChunk);
    SmallVector<TermBuffer> buffers = termBuffers(reducers, chunks);
    // All threads go through all turns, since they fold together.
    buildLoop(b(), loc(), lane.number(0), lane.number(chunks), workers,
              [&](Value turn) {
                LaneMath lane(b(), loc());
                Value chunk = arith::AddIOp::create(b(), loc(), turn, worker);
                SmallVector<Term> terms =
                    combine(lane.mulConstant({chunk, 0, 1}, kTreeChunk).base);
                Value stores =
                    arith::CmpIOp::create(b(), loc(), arith::CmpIPredicate::slt,
                                          chunk, lane.number(chunks));
                stores = arith::AndIOp::create(b(), loc(), stores, isFirst);
                buildIf(b(), loc(), stores, [&] {
                  for (auto [buffer, term] : llvm::zip(buffers, terms))
                    buffer.store(b(), loc(), term, chunk);
                });
              });
    launch.barrier();
    elements.count = chunks;
    elements.hasVectors = false;
    elements.at = [this, buffers](OpBuilder &b, LaneIndex first, int64_t) {
      SmallVector<Term> terms;
      for (const TermBuffer &buffer : buffers)
        terms.push_back(buffer.load(b, loc(), first.base, 1));
      return terms;
    };
  }
  SmallVector<Term> terms = combine(lane.number(0));
  for (Term &term : terms)
    term = broadcastTerm(b(), loc(), term);
  return terms;
}

/// A walk without a reduction.
void RowReduceEmitter::forRow(const Sequence &elements, const RowPass &pass) {
  LaneMath lane(b(), loc());
  Value chunks = lane.number(llvm::divideCeil(plan.cols, kTreeChunk));
  Value from = isShort ? lane.number(0) : worker;
  buildLoop(b(), loc(), from, chunks, workers, [&](Value chunk) {
    Value begin =
        LaneMath(b(), loc()).mulConstant({chunk, 0, 1}, kTreeChunk).base;
    forElements(b(), elements, begin, treeLane,
                [&](LaneIndex first, int64_t lanes) {
                  FusedBody::Frame frame(body, b());
                  storeElements(frame, pass, first, lanes);
                });
  });
}

//===- What a pass stores ------------------------------------------------===//

/// Shared memory for the elements that later passes need again, as far as it
/// goes; what does not fit is computed again.
void RowReduceEmitter::makeRoomFor(const RowPass &pass) {
  for (Value value : pass.kept) {
    Type element = storageType(tensorType(value).getElementType());
    int64_t count = rowsPerBlock * plan.cols,
            bytes = count * (element.getIntOrFloatBitWidth() / 8);
    if (keptBytes + bytes > kKeptBytes)
      continue;
    keptBytes += bytes;
    keptRows[value] = launch.shared(element, count);
  }
}

/// The place of an element that is kept.
LaneIndex RowReduceEmitter::keptPosition(OpBuilder &b, LaneIndex position) {
  if (!isShort)
    return position;
  LaneMath lane(b, loc());
  return lane.add(lane.mulConstant({worker, 0, 1}, plan.cols), position);
}

void RowReduceEmitter::supplyKept(Value value) {
  Type element = tensorType(value).getElementType();
  Value buffer = keptRows.lookup(value);
  body.supply(value, [=, this](OpBuilder &b, Location loc,
                               ArrayRef<LaneIndex> index, int64_t width) {
    LaneMath lane(b, loc);
    LaneIndex position = plan.positionInRow(lane, value, index);
    return loadLanes(b, loc, buffer, keptPosition(b, position), width, element,
                     /*mask=*/{}, /*isAligned=*/true);
  });
}

void RowReduceEmitter::storeElements(FusedBody::Frame &frame,
                                     const RowPass &pass, LaneIndex first,
                                     int64_t lanes) {
  for (Value value : pass.kept)
    if (Value buffer = keptRows.lookup(value))
      storeLanes(b(), loc(), elementAt(frame, value, first, lanes), buffer,
                 keptPosition(b(), first).base, /*nonTemporal=*/false,
                 /*mask=*/{}, /*isAligned=*/true);
  if (pass.outputs.empty())
    return;
  SmallVector<Value> values;
  for (unsigned output : pass.outputs)
    values.push_back(elementAt(frame, plan.outputs[output], first, lanes));
  LaneMath lane(b(), loc());
  Value position =
      lane.add(lane.mulConstant({row, 0, 1}, plan.cols), {first.base, 0, 1})
          .base;
  auto store = [&] {
    for (auto [output, value] : llvm::zip(pass.outputs, values))
      storeLanes(b(), loc(), value, launch.outputs()[output], position,
                 /*nonTemporal=*/false, /*mask=*/{}, /*isAligned=*/true);
  };
  isOwn ? buildIf(b(), loc(), isOwn, store) : store();
}

} // namespace

LogicalResult emitRowReduce(KernelOp kernel, StringRef name, ModuleOp module) {
  RowPlan plan(kernel);
  if (failed(plan.analyse()))
    return failure();
  if (isSymbolic(plan.cols))
    return kernel.emitOpError("has rows of a symbolic length, which a row "
                              "kernel cannot have");
  RowReduceEmitter(kernel, name, module, plan).emit();
  return success();
}

} // namespace tessera::lowering::simt
