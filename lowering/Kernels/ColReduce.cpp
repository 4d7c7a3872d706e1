// Column kernels: their analysis, the levels of their launches (chunks of
// elements, then chunks of chunks' results, and where these wait), and their
// epilogue.
#include "lowering/Kernels/ColReduce.h"
#include "dialects/Tessera/IR/NarrowFloats.h"
#include "lowering/Kernels/Symbolic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tessera::ir;
using tessera::runtime::SizeFormula;

namespace tessera::lowering {

//===- ColKernel ---------------------------------------------------------===//

LogicalResult ColKernel::analyse() {
  for (ReduceOp reduce : kernel.getBody().front().getOps<ReduceOp>()) {
    auto operand = tensorType(reduce.getX()).getShape();
    if (reducers.empty()) {
      shape.assign(operand.begin(), operand.end());
      reducedDims.assign(reduce.getDims().begin(), reduce.getDims().end());
      for (int64_t i = 0; i < int64_t(shape.size()); ++i)
        if (!llvm::is_contained(reducedDims, i))
          keptDims.push_back(i);
      count = ShapedType::getNumElements(sizes(reducedDims));
      results = ShapedType::getNumElements(sizes(keptDims));
    }
    if (operand != ArrayRef(shape) || reduce.getDims() != ArrayRef(reducedDims))
      return reduce.emitOpError(
          "reduces another shape than the column kernel's first reduction");
    reducers.emplace_back(reduce, count);
  }
  if (reducers.empty())
    return kernel.emitOpError("a column kernel needs a reduction");
  return checkEpilogue();
}

/// What depends on a reduction must read it at the same element of the result,
/// and must not be reduced again.
LogicalResult ColKernel::checkEpilogue() {
  llvm::DenseSet<Value> dependent;
  for (Operation &op : kernel.getBody().front()) {
    bool depends = llvm::any_of(op.getOperands(),
                                [&](Value v) { return dependent.contains(v); });
    bool keepsOrder = isa<ScalarOpInterface>(op) ||
                      isa<ReshapeOp, IdentityOp, StopGradientOp, YieldOp>(op);
    if (auto broadcast = dyn_cast<BroadcastOp>(op))
      keepsOrder = tensorType(broadcast.getX()).getNumElements() ==
                   tensorType(broadcast.getY()).getNumElements();
    if (depends && !keepsOrder)
      return op.emitOpError("reads a result of this column kernel's reductions "
                            "at another element");
    if (depends || isa<ReduceOp>(op))
      for (Value result : op.getResults())
        dependent.insert(result);
  }
  for (Type type : kernel.getOutputs().getTypes())
    if (cast<RankedTensorType>(type).getNumElements() != results)
      return kernel.emitOpError("a column kernel's outputs have the elements "
                                "of its reductions' results");
  return success();
}

SmallVector<int64_t> ColKernel::sizes(ArrayRef<int64_t> dims) const {
  return llvm::map_to_vector(dims, [&](int64_t dim) { return shape[dim]; });
}

SmallVector<LaneIndex> ColKernel::indexOf(OpBuilder &b, Value result,
                                          LaneIndex at) const {
  LaneMath lane(b, kernel.getLoc());
  auto reduced = *lane.delinearize(at, sizes(reducedDims), 1);
  auto kept = *lane.delinearize({result, 0, 1}, sizes(keptDims), 1);
  SmallVector<LaneIndex> index(shape.size());
  for (auto [dim, part] : llvm::zip(reducedDims, reduced))
    index[dim] = part;
  for (auto [dim, part] : llvm::zip(keptDims, kept))
    index[dim] = part;
  return index;
}

bool ColKernel::keepsInnermost() const {
  int64_t inner = shape.size();
  while (inner > 0 && shape[inner - 1] == 1)
    --inner;
  return inner > 0 && llvm::is_contained(keptDims, inner - 1);
}

//===- Levels ------------------------------------------------------------===//

ColLaunches::ColLaunches(const ColKernel &kernel, StringRef name,
                         ModuleOp module)
    : kernel(kernel), module(module), name(name) {
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

SizeFormula ColLaunches::termsOf(int64_t depth, int64_t times,
                                 int64_t together) const {
  int64_t divisor;
  Extent terms = growingTerms(kernel.count, depth, divisor);
  return ceilOf(numberOf(terms), divisor * together, times);
}

SizeFormula ColLaunches::unitsOf(const Level &level, int64_t perChunk,
                                 int64_t chunks) const {
  if (kernel.grows() && !isLast(level))
    return termsOf(&level - &levels.front() + 1, perChunk, chunks);
  return ceilOf(perChunk, 1, llvm::divideCeil(level.chunks, chunks));
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
    buffers.push_back(layOut(reducer, [&](int64_t before, Type element) {
      Value from = lane.add(at, bytes(before)).base;
      return workspacePart(b(), launch->loc(), launch->workspace(), from,
                           element, kUnknownElements / 8);
    }));
    LaneIndex end = lane.addConstant(lane.add(at, bytes(reducer.bytes())), 63);
    at = lane.mulConstant({lane.divide(end.base, 64), 0, 1}, 64);
  }
  return buffers;
}

void ColLaunches::emit() {
  for (auto [i, level] : llvm::enumerate(levels))
    emitLevel(level, i == 0 ? name.str() : (name + "_" + Twine(i)).str());
}

SmallVector<TermBuffer> ColLaunches::slots(const Level &level) {
  if (kernel.grows())
    return growingSlots(level);
  int64_t at = level.slots, count = level.count * kernel.results;
  SmallVector<TermBuffer> buffers;
  for (const Reducer &reducer : kernel.reducers) {
    buffers.push_back(layOut(reducer, [&](int64_t before, Type element) {
      return workspacePart(b(), launch->loc(), launch->workspace(),
                           launch->number(at + count * before), element, count);
    }));
    at += alignedTo(count * reducer.bytes(), 64);
  }
  return buffers;
}

//===- The epilogue ------------------------------------------------------===//

/// Gives the epilogue the reduced values of `lanes` results from flat position
/// `position` on.
void ColLaunches::supplyResult(const Reducer &reducer, Term term,
                               Value position, int64_t lanes) {
  Value result = kernel.count == 0 ? reducer.resultOfNothing(b())
                                   : reducer.result(b(), term);
  Value nothing;
  Reduction reduction = reducer.getOp().getReduction();
  if (kernel.grows() &&
      (reduction == Reduction::sum || reduction == Reduction::prod)) {
    nothing = reducer.resultOfNothing(b());
    if (lanes > 1)
      nothing = vector::BroadcastOp::create(
          b(), launch->loc(), VectorType::get({lanes}, nothing.getType()),
          nothing);
    Value isEmpty =
        arith::CmpIOp::create(b(), launch->loc(), arith::CmpIPredicate::eq,
                              launch->number(kernel.count), launch->number(0));
    result =
        arith::SelectOp::create(b(), launch->loc(), isEmpty, nothing, result);
  }
  if (kernel.count == 0 && lanes > 1)
    result = vector::BroadcastOp::create(
        b(), launch->loc(), VectorType::get({lanes}, result.getType()), result);
  auto type = tensorType(reducer.getOp().getY());
  body->supply(
      reducer.getOp().getY(),
      [=](OpBuilder &b, Location loc, ArrayRef<LaneIndex> at, int64_t width) {
        if (width == lanes)
          return result;
        // An op of the epilogue goes lane by lane: the one it asks for is found
        // through memory.
        Value spill =
            stackBuffer(b, loc, storageType(type.getElementType()), lanes);
        storeLanes(b, loc, result, spill,
                   arith::ConstantIndexOp::create(b, loc, 0));
        LaneIndex flat = LaneMath(b, loc).linearize(at, type.getShape());
        Value lane = arith::SubIOp::create(b, loc, flat.base, position);
        return loadLanes(b, loc, spill, {lane, flat.step, 1}, width,
                         type.getElementType());
      });
}

void ColLaunches::storeResults(ArrayRef<Term> terms, Value position,
                               ArrayRef<LaneIndex> index, int64_t lanes) {
  for (auto [reducer, term] : llvm::zip(kernel.reducers, terms))
    supplyResult(reducer, term, position, lanes);
  FusedBody::Frame frame(*body, b());
  LaneMath lane(b(), launch->loc());
  SmallVector<Value> values;
  for (Value value : kernel.yield().getValues()) {
    // The same elements under another shape lie at the same places.
    while (auto reshape = value.getDefiningOp<ReshapeOp>())
      value = reshape.getX();
    auto shape = tensorType(value).getShape();
    FailureOr<SmallVector<LaneIndex>> where = SmallVector<LaneIndex>(index);
    if (shape != ArrayRef(kernel.sizes(kernel.keptDims)))
      where = lane.delinearize({position, 1, 1}, shape, lanes);
    if (succeeded(where)) {
      values.push_back(frame.at(value, *where, lanes));
      continue;
    }
    SmallVector<Value> elements;
    for (int64_t i = 0; i < lanes; ++i)
      elements.push_back(frame.at(
          value,
          *lane.delinearize(lane.addConstant({position, 0, 1}, i), shape, 1),
          1));
    auto type = VectorType::get(
        {lanes}, registerType(tensorType(value).getElementType()));
    values.push_back(
        vector::FromElementsOp::create(b(), launch->loc(), type, elements));
  }
  for (auto [value, output] : llvm::zip(values, launch->outputs()))
    storeLanes(b(), launch->loc(), value, output, position);
}

} // namespace tessera::lowering
