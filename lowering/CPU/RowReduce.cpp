// The RowReduce emitter: reductions over trailing dimensions, and what is
// computed from them along the same rows.
//
// A row is walked once for each pass of the plan, in vectors along it. Reduced
// values and others of one element a row are scalars between the walks; costly
// elements that a later walk needs again lie in a scratch row.
#include "lowering/CPU/Emit.h"
#include "lowering/CPU/ReduceTreeElements.h"
#include "lowering/CPU/ReduceTreeSequence.h"
#include "lowering/Kernels/Launch.h"
#include "lowering/Kernels/RowReducePlan.h"
#include "lowering/Kernels/Symbolic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering::cpu {

namespace {

/// Elements that one tile computes at least: enough work to pay for handing it
/// to a thread.
constexpr int64_t kTileElements = 16384;
/// Bytes of a function's stack that scratch rows may take.
constexpr int64_t kStackBytes = 32 << 10;
/// A pass of more instructions a vector than this fills the pipeline by itself.
constexpr int64_t kCostly = 12;
/// Most tiles of a kernel whose scratch rows lie in the workspace.
constexpr int64_t kWorkspaceTiles = 64;

/// Elements of a row, at least, and partial results of it, at most, for rows to
/// be walked side by side.
constexpr int64_t kSideBySideElements = 256, kSideBySidePartials = 256;

class RowReduceEmitter {
public:
  RowReduceEmitter(KernelOp kernel, StringRef name, const TargetInfo &target,
                   ModuleOp module, const RowPlan &plan)
      : kernel(kernel), target(target), plan(plan) {
    chooseLanes();
    placeScratch();
    rowsPerTile =
        std::max<int64_t>(1, kTileElements / std::max<int64_t>(1, plan.cols));
    if (goesSideBySide())
      streams = kTreeStreams;
    if (tileBytes > 0 && isSymbolic(plan.rows))
      rowsPerTile = 1; // A part of the workspace for each row.
    else if (tileBytes > 0)
      rowsPerTile = std::max<int64_t>(
          rowsPerTile, llvm::divideCeil(plan.rows, kWorkspaceTiles));
    rowsPerTile = llvm::divideCeil(rowsPerTile, streams);
    rowsPerStream = plan.rows / streams;
    launch.emplace(module, kernel, name, ceilOf(rowsPerStream, rowsPerTile),
                   ceilOf(rowsPerStream, rowsPerTile, tileBytes));
    body.emplace(kernel, launch->inputs());
  }

  void emit() {
    if (plan.rows > 0) {
      tile = launch->forEachTile();
      LaneMath lane(b(), launch->loc());
      Value first = lane.mulConstant({tile, 0, 1}, rowsPerTile).base;
      Value last = lane.addConstant({first, 0, 1}, rowsPerTile).base;
      last = arith::MinSIOp::create(b(), launch->loc(), last,
                                    launch->number(rowsPerStream));
      if (tileBytes > 0)
        tileStart = lane.mulConstant({tile, 0, 1}, tileBytes).base;
      Value row = launch->openLoop(first, last, 1);
      if (streams > 1)
        emitRowsSideBySide(row);
      else
        emitRow(row);
    }
    launch->finish();
  }

private:
  enum class Where { Stack, Output, Workspace };
  /// A scratch row: on the stack, in an output's own row, or in the workspace
  /// at a byte offset of the tile's part.
  struct Scratch {
    Where where;
    int64_t at = 0;
  };

  OpBuilder &b() { return launch->body(); }
  RankedTensorType outputType(unsigned output) {
    return tensorType(plan.outputs[output]);
  }

  void chooseLanes();
  void placeScratch();
  Scratch placeKept(Value value, size_t pass, int64_t &stackLeft);
  void goTo(Value row);
  void emitRow(Value row);
  void emitRowOutputs();
  Value atRow(FusedBody::Frame &frame, Value value);
  void emitPass(const RowPass &pass);
  SmallVector<Reducer> reducersOf(const RowPass &pass);
  bool isDirect(const RowPass &pass);
  int64_t partialCount(const RowPass &pass);
  TermBuffer partials(const RowPass &pass, const Reducer &reducer,
                      size_t index);
  Place placeOf(Value kept);
  void supplyKept(Value value);
  void fetchAhead(const RowPass &pass, Elements &elements);
  bool goesSideBySide();
  void emitRowsSideBySide(Value first);
  SmallVector<Root> rootsOf(const RowPass &pass);
  Elements elementsOf(ArrayRef<Root> roots, ArrayRef<Reducer> reducers);
  bool overwritesWhatItReads(const RowPass &pass);
  int64_t vectorsPerStep(const RowPass &pass);
  bool isStreaming(unsigned output);

  KernelOp kernel;
  const TargetInfo &target;
  const RowPlan &plan;
  int64_t lanes, rowsPerTile, tileBytes = 0;
  /// Parts of the rows that are walked side by side, and the rows of each.
  int64_t streams = 1, rowsPerStream;
  llvm::MapVector<Value, Scratch> scratch;
  llvm::SmallDenseSet<unsigned> scratchOutputs;
  SmallVector<Scratch>
      partialPlaces; ///< For each reduction, in the order of the passes.
  llvm::DenseMap<Value, Value> stackRows;
  std::optional<Launch> launch;
  std::optional<FusedBody> body;
  // Of the tile and the row at hand.
  Value tile, tileStart, row, rowStart;
  size_t reductionsDone = 0;
};

void RowReduceEmitter::chooseLanes() {
  lanes = kTreeLanes;
  auto consider = [&](Type element) {
    lanes = std::min<int64_t>(lanes, target.lanes(storageType(element)));
  };
  for (const RowPass &pass : plan.passes) {
    for (ReduceOp reduce : pass.reduces)
      consider(Reducer(reduce, plan.cols).accumulator());
    for (unsigned output : pass.outputs)
      consider(outputType(output).getElementType());
  }
  lanes = std::min<int64_t>(
      lanes, llvm::bit_floor(uint64_t(std::max<int64_t>(1, plan.cols))));
}

/// Scratch rows go to the stack while there is room, then to the row of an
/// output that is written no sooner than the scratch row is last read, then to
/// the workspace.
void RowReduceEmitter::placeScratch() {
  int64_t stackLeft = kStackBytes;
  auto inWorkspace = [&](int64_t bytes) {
    Scratch place{Where::Workspace, tileBytes};
    tileBytes += llvm::alignTo(bytes, 64);
    return place;
  };
  for (const RowPass &pass : plan.passes)
    for (const Reducer &reducer : reducersOf(pass)) {
      int64_t bytes = partialCount(pass) * reducer.bytes();
      bool fits = bytes <= stackLeft / 2;
      partialPlaces.push_back(fits ? Scratch{Where::Stack}
                                   : inWorkspace(bytes));
      stackLeft -= fits ? bytes : 0;
    }
  for (auto [index, pass] : llvm::enumerate(plan.passes))
    for (Value value : pass.kept) {
      Scratch place = placeKept(value, index, stackLeft);
      if (place.where == Where::Workspace)
        place = inWorkspace(plan.cols *
                            (storageType(tensorType(value).getElementType())
                                 .getIntOrFloatBitWidth() /
                             8));
      scratch.insert({value, place});
    }
}

RowReduceEmitter::Scratch RowReduceEmitter::placeKept(Value value, size_t pass,
                                                      int64_t &stackLeft) {
  Type element = tensorType(value).getElementType();
  int64_t bytes =
      plan.cols * (storageType(element).getIntOrFloatBitWidth() / 8);
  if (bytes <= stackLeft) {
    stackLeft -= bytes;
    return {Where::Stack};
  }
  // Its own row, or one of the last pass: all reads are over then.
  for (size_t p : {pass, plan.passes.size() - 1})
    for (unsigned output : plan.passes[p].outputs) {
      bool own = plan.outputs[output] == value;
      bool borrowed = p > pass && p == plan.passes.size() - 1 &&
                      outputType(output).getElementType() == element;
      if ((own || borrowed) && scratchOutputs.insert(output).second)
        return {Where::Output, output};
    }
  return {Where::Workspace};
}

Place RowReduceEmitter::placeOf(Value kept) {
  const Scratch &place = scratch.find(kept)->second;
  Type element = storageType(tensorType(kept).getElementType());
  if (place.where == Where::Output)
    return {launch->outputs()[place.at], rowStart};
  Value zero = launch->number(0);
  if (place.where == Where::Stack) {
    Value &buffer = stackRows[kept];
    if (!buffer)
      buffer = stackBuffer(b(), kept.getLoc(), element, plan.cols);
    return {buffer, zero};
  }
  Value from = LaneMath(b(), kept.getLoc())
                   .addConstant({tileStart, 0, 1}, place.at)
                   .base;
  return {workspacePart(b(), kept.getLoc(), launch->workspace(), from, element,
                        plan.cols),
          zero};
}

SmallVector<Reducer> RowReduceEmitter::reducersOf(const RowPass &pass) {
  SmallVector<Reducer> reducers;
  for (ReduceOp reduce : pass.reduces)
    reducers.emplace_back(reduce, plan.cols);
  return reducers;
}

bool RowReduceEmitter::isDirect(const RowPass &pass) {
  return Elements::isDirect(reducersOf(pass), plan.cols, lanes, plan.runLength);
}

int64_t RowReduceEmitter::partialCount(const RowPass &pass) {
  return cpu::partialCount(reducersOf(pass), plan.cols, !isDirect(pass));
}

TermBuffer RowReduceEmitter::partials(const RowPass &pass,
                                      const Reducer &reducer, size_t index) {
  int64_t count = partialCount(pass);
  if (count == 0)
    return {};
  if (partialPlaces[index].where == Where::Stack)
    return stackTerms(b(), reducer, count);
  LaneMath lane(b(), launch->loc());
  int64_t at = partialPlaces[index].at;
  return layOut(reducer, [&](int64_t before, Type element) {
    return workspacePart(
        b(), launch->loc(), launch->workspace(),
        lane.addConstant({tileStart, 0, 1}, at + count * before).base, element,
        count);
  });
}

void RowReduceEmitter::goTo(Value row) {
  this->row = row;
  rowStart =
      LaneMath(b(), launch->loc()).mulConstant({row, 0, 1}, plan.cols).base;
}

/// Whether the kernel is one cheap reduction of rows from memory. Memory
/// delivers the rows of several places faster than those of one, without any
/// prefetching of ours.
bool RowReduceEmitter::goesSideBySide() {
  if (plan.passes.size() != 1 || plan.rows % kTreeStreams != 0 ||
      inputBytes(kernel) <= target.l2 || plan.cols < kSideBySideElements)
    return false;
  const RowPass &pass = plan.passes[0];
  bool readsRowValues = llvm::any_of(
      plan.rowValues, [&](Value value) { return plan.level(value) == 0; });
  return pass.reduces.size() == 1 && pass.cost <= kCostly &&
         pass.kept.empty() && pass.outputs.empty() && !readsRowValues &&
         isDirect(pass) && partialCount(pass) <= kSideBySidePartials;
}

void RowReduceEmitter::emitRowsSideBySide(Value first) {
  LaneMath lane(b(), launch->loc());
  const RowPass &pass = plan.passes[0];
  SmallVector<Reducer> reducers = reducersOf(pass);
  SmallVector<Value> rows;
  SmallVector<TermBuffer> buffers;
  int64_t count = partialCount(pass);
  for (int64_t i = 0; i < streams; ++i) {
    rows.push_back(lane.addConstant({first, 0, 1}, i * rowsPerStream).base);
    buffers.push_back(count == 0 ? TermBuffer()
                                 : stackTerms(b(), reducers[0], count));
  }
  SmallVector<Root> roots = rootsOf(pass);
  Elements elements = elementsOf(roots, reducers);
  Sequence sequence(
      launch->loc(), reducers, lanes, vectorsPerStep(pass),
      [&](OpBuilder &b, LaneIndex first, int64_t vectors, int64_t width) {
        return elements.visit(b, first, vectors, width);
      });
  sequence.select = [&](size_t stream) { row = rows[stream]; };
  SmallVector<Term> terms = sequence.all(b(), plan.cols, buffers, streams);
  for (auto [row, term] : llvm::zip(rows, terms)) {
    goTo(row);
    body->supplyScalar(reducers[0].getOp().getY(),
                       reducers[0].result(b(), term));
    emitRowOutputs();
  }
}

/// What is stored once a row.
void RowReduceEmitter::emitRowOutputs() {
  FusedBody::Frame frame(*body, b());
  for (unsigned output : plan.rowOutputs) {
    Value value = plan.outputs[output];
    storeLanes(b(), launch->loc(), atRow(frame, value),
               launch->outputs()[output], row);
  }
}

/// A value of one element a row, at this row.
Value RowReduceEmitter::atRow(FusedBody::Frame &frame, Value value) {
  return frame.at(value, RowPlan::indexOfRow(b(), value, row), 1);
}

void RowReduceEmitter::emitRow(Value row) {
  goTo(row);
  FusedBody::Frame frame(*body, b());
  for (auto [index, pass] : llvm::enumerate(plan.passes)) {
    for (Value value : plan.rowValues)
      if (plan.level(value) == int(index))
        body->supplyScalar(value, atRow(frame, value));
    emitPass(pass);
  }
  emitRowOutputs();
}

/// One walk; afterwards the reduced values are known.
void RowReduceEmitter::emitPass(const RowPass &pass) {
  SmallVector<Reducer> reducers = reducersOf(pass);
  if (plan.cols == 0) {
    for (const Reducer &reducer : reducers)
      body->supplyScalar(reducer.getOp().getY(), reducer.resultOfNothing(b()));
    return;
  }
  SmallVector<TermBuffer> buffers;
  for (const Reducer &reducer : reducers)
    buffers.push_back(partials(pass, reducer, reductionsDone++));
  SmallVector<Root> roots = rootsOf(pass);
  Elements elements = elementsOf(roots, reducers);
  elements.mayRepeat = !overwritesWhatItReads(pass);
  fetchAhead(pass, elements);
  Sequence sequence(
      launch->loc(), reducers, lanes, vectorsPerStep(pass),
      [&](OpBuilder &b, LaneIndex first, int64_t vectors, int64_t width) {
        return elements.visit(b, first, vectors, width);
      });
  sequence.mayRepeat = elements.mayRepeat;
  sequence.inChunks = !elements.isDirect();
  if (!elements.isDirect())
    sequence.prepare = [&](OpBuilder &b, LaneIndex begin, int64_t length) {
      elements.prepare(b, begin, length);
    };
  SmallVector<Term> terms = sequence.all(b(), plan.cols, buffers);
  for (auto [reducer, term] : llvm::zip(reducers, terms))
    body->supplyScalar(reducer.getOp().getY(), reducer.result(b(), term));
  for (Value value : pass.kept)
    supplyKept(value);
}

/// The memory of a row is fetched while the one before is computed, in the pass
/// that computes the most; or, where rows are long or no pass computes much, a
/// little ahead of its use.
void RowReduceEmitter::fetchAhead(const RowPass &pass, Elements &elements) {
  if (inputBytes(kernel) <= target.l2)
    return;
  const RowPass &costliest =
      *llvm::max_element(plan.passes, [](const RowPass &x, const RowPass &y) {
        return x.cost < y.cost;
      });
  int64_t rowBytes = 0;
  for (const RowPass &each : plan.passes)
    for (unsigned input : each.streams)
      rowBytes += plan.cols *
                  cast<MemRefType>(launch->inputs()[input].getType())
                      .getElementTypeBitWidth() /
                  8;
  bool nextRow = costliest.cost > kCostly && rowBytes <= target.l1 / 2;
  if (nextRow && &pass != &costliest)
    return;
  for (const RowPass &each : plan.passes)
    if (nextRow || &each == &pass)
      for (unsigned input : each.streams)
        elements.streams.push_back(
            {launch->inputs()[input], rowStart, nextRow ? plan.cols : 0});
}

/// The elements of this row, as walks ask for them.
Elements RowReduceEmitter::elementsOf(ArrayRef<Root> roots,
                                      ArrayRef<Reducer> reducers) {
  return {launch->loc(),
          *body,
          roots,
          reducers,
          plan.cols,
          lanes,
          plan.runLength,
          [this](OpBuilder &b, Value value, Value at) {
            return plan.indexOf(b, value, row, {at, 0, 1});
          }};
}

SmallVector<Root> RowReduceEmitter::rootsOf(const RowPass &pass) {
  SmallVector<Root> roots;
  for (ReduceOp reduce : pass.reduces)
    roots.push_back({reduce.getX(), std::nullopt});
  for (unsigned output : pass.outputs)
    roots.push_back({plan.outputs[output],
                     Place{launch->outputs()[output], rowStart},
                     isStreaming(output)});
  for (Value value : pass.kept) {
    const Scratch &place = scratch.find(value)->second;
    bool stored =
        place.where == Where::Output && plan.outputs[place.at] == value;
    if (!stored)
      roots.push_back({value, placeOf(value)});
  }
  return roots;
}

/// Whether the pass writes an output over a scratch row that lies there.
bool RowReduceEmitter::overwritesWhatItReads(const RowPass &pass) {
  return llvm::any_of(pass.outputs, [&](unsigned output) {
    return scratchOutputs.contains(output);
  });
}

/// Enough work in flight for a cheap body; a costly one fills the pipeline by
/// itself, and its code should stay small.
int64_t RowReduceEmitter::vectorsPerStep(const RowPass &pass) {
  bool ordered = llvm::any_of(pass.reduces, [&](ReduceOp op) {
    return Reducer(op, plan.cols).isOrdered();
  });
  bool costly = pass.cost > kCostly;
  if (ordered)
    return costly ? kTreeGroup
                  : std::clamp<int64_t>(kTreeGroup * kTreeLanes / lanes,
                                        kTreeGroup, 8);
  return costly ? 2 : 4;
}

bool RowReduceEmitter::isStreaming(unsigned output) {
  int64_t vectorBytes =
      lanes * outputType(output).getElementType().getIntOrFloatBitWidth() / 8;
  return isStreamed(kernel, target) && plan.cols % lanes == 0 &&
         vectorBytes >= 16 && !scratchOutputs.contains(output);
}

void RowReduceEmitter::supplyKept(Value value) {
  Place place = placeOf(value);
  Type element = tensorType(value).getElementType();
  body->supply(
      value,
      [=, this](OpBuilder &b, Location loc, ArrayRef<LaneIndex> index,
                int64_t width) -> Value {
        LaneMath lane(b, loc);
        LaneIndex position = lane.add(plan.positionInRow(lane, value, index),
                                      {place.offset, 0, 1});
        return loadLanes(b, loc, place.buffer, position, width, element);
      });
}

} // namespace

LogicalResult emitRowReduce(KernelOp kernel, StringRef name,
                            const TargetInfo &target, ModuleOp module) {
  RowPlan plan(kernel);
  if (failed(plan.analyse()))
    return failure();
  RowReduceEmitter(kernel, name, target, module, plan).emit();
  return success();
}

} // namespace tessera::lowering::cpu
