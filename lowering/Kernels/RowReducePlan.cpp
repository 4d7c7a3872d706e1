// Divides a row kernel into passes.
//
// A reduction that depends on another one needs a walk over the row of its own.
// What a later walk reads of an earlier one is computed again if that is cheap,
// and kept in a scratch row if not: an exponential is never computed twice.
#include "lowering/Kernels/RowReducePlan.h"
#include "lowering/Kernels/Runs.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering {

/// Values that cost more than this to compute again are kept.
static constexpr int64_t kCheap = 8;

/// About the number of instructions for a vector of results, its operands
/// given.
static int64_t ownCost(Operation *op) {
  if (isa<ExpOp, LogOp, TanhOp, SinOp, CosOp, ErfOp, PowOp, RandomBitsOp>(op))
    return 24;
  if (isa<DivOp, SqrtOp, RsqrtOp>(op))
    return 10;
  if (isa<ConstantOp, ExtentOp, BroadcastOp, ReshapeOp, IdentityOp,
          StopGradientOp>(op))
    return 0;
  // Views that move elements read them one by one.
  return isa<ScalarOpInterface>(op) ? 1 : 10;
}

LogicalResult RowPlan::analyse() {
  if (failed(findSpace()) || failed(findAccesses()))
    return failure();
  runLength = findRunLength(kernel, space, kept);
  findPasses();
  findKept();
  return success();
}

/// What lies in memory as the value does.
static Value withoutReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getX();
  return value;
}

LogicalResult RowPlan::findSpace() {
  for (Value value : kernel.getBody().front().getTerminator()->getOperands())
    outputs.push_back(withoutReshapes(value));
  auto reduces = kernel.getBody().front().getOps<ReduceOp>();
  if (reduces.empty())
    return kernel.emitOpError("a row kernel needs a reduction");
  for (ReduceOp reduce : reduces) {
    auto shape = tensorType(reduce.getX()).getShape();
    int64_t leading = shape.size() - reduce.getDims().size();
    for (auto [i, dim] : llvm::enumerate(reduce.getDims()))
      if (dim != leading + int64_t(i))
        return reduce.emitOpError(
            "does not reduce trailing dimensions, as a row kernel must");
    auto product = [](ArrayRef<int64_t> sizes) {
      return ShapedType::getNumElements(sizes);
    };
    int64_t r = product(shape.take_front(leading)),
            c = product(shape.drop_front(leading));
    if (space.empty() && reduce == *reduces.begin()) {
      space.assign(shape.begin(), shape.end());
      kept = leading;
      rows = r;
      cols = c;
    }
    if (r != rows || c != cols)
      return reduce.emitOpError(
          "reduces other rows than the kernel's first reduction");
  }
  return success();
}

std::optional<int64_t> RowPlan::rowRank(ArrayRef<int64_t> shape) const {
  if (shape == ArrayRef(space))
    return kept;
  int64_t before = 1, rank = shape.size(),
          all = ShapedType::getNumElements(shape);
  for (int64_t i = 0; i <= rank; ++i) {
    if (before == rows && all == rows * cols)
      return i;
    if (i < rank)
      before *= shape[i];
  }
  return std::nullopt;
}

SmallVector<LaneIndex> RowPlan::indexOf(OpBuilder &b, Value value, Value row,
                                        LaneIndex position) const {
  auto shape = tensorType(value).getShape();
  LaneMath lane(b, value.getLoc());
  auto split = rowRank(shape);
  if (!split) {
    LaneIndex start = lane.mulConstant({row, 0, 1}, cols);
    return *lane.delinearize(lane.add(start, position), shape, 1);
  }
  auto index = *lane.delinearize({row, 0, 1}, shape.take_front(*split), 1);
  if (getConstantIntValue(position.base) == 0)
    index.append(shape.size() - *split, lane.constant(0));
  else
    index.append(*lane.delinearize(position, shape.drop_front(*split), 1));
  return index;
}

SmallVector<LaneIndex> RowPlan::indexOfRow(OpBuilder &b, Value value,
                                           Value row) {
  return *LaneMath(b, value.getLoc())
              .delinearize({row, 0, 1}, tensorType(value).getShape(), 1);
}

LaneIndex RowPlan::positionInRow(LaneMath &lane, Value value,
                                 ArrayRef<LaneIndex> index) const {
  auto shape = tensorType(value).getShape();
  int64_t split = *rowRank(shape);
  return lane.linearize(index.drop_front(split), shape.drop_front(split));
}

//===- Accesses ----------------------------------------------------------===//

LogicalResult RowPlan::findAccesses() {
  Block &block = kernel.getBody().front();
  for (Value value : outputs) {
    int64_t elements = tensorType(value).getNumElements();
    if (elements != rows && elements != rows * cols)
      return kernel.emitOpError("a row kernel's outputs have an element for "
                                "each row, or for each of its elements");
    accesses[value] |= elements == rows ? kRow : kFull;
  }
  for (Operation &op : llvm::reverse(block.without_terminator()))
    if (unsigned access = accesses.lookup(op.getResult(0)))
      readOperands(op, access);
  for (Operation &op : block.without_terminator()) {
    Value result = op.getResult(0);
    int level = 0;
    for (Value operand : op.getOperands())
      level = std::max(level, levels.lookup(operand));
    levels[result] = level + isa<ReduceOp>(op);
    unsigned allowed = kRow | (rows == 1 ? kSingle : 0) |
                       (!isa<ReduceOp>(op) || cols == 1 ? kFull : 0);
    if (levels[result] > 0 && (accesses.lookup(result) & ~allowed))
      return op.emitOpError("depends on a reduction of this row kernel and is "
                            "read at another row");
  }
  return success();
}

void RowPlan::readOperands(Operation &op, unsigned access) {
  unsigned reads = kOther;
  if (isa<ScalarOpInterface>(op) ||
      isa<ReshapeOp, IdentityOp, StopGradientOp>(op))
    reads = access;
  else if (isa<ReduceOp>(op))
    reads = kFull;
  else if (auto broadcast = dyn_cast<BroadcastOp>(op))
    reads = throughBroadcast(broadcast, access);
  for (Value operand : op.getOperands())
    accesses[operand] |= reads;
}

unsigned RowPlan::throughBroadcast(BroadcastOp op, unsigned access) const {
  auto from = tensorType(op.getX()), to = tensorType(op.getY());
  bool same = from.getNumElements() == to.getNumElements(),
       single = from.getNumElements() == 1;
  auto split = rowRank(to.getShape());
  /// Whether the operand has exactly those dimensions of the result that lie in
  /// [first, last).
  auto spans = [&](int64_t first, int64_t last) {
    SmallVector<int64_t> theirs, wanted;
    for (auto [i, dim] : llvm::enumerate(op.getDims()))
      if (from.getDimSize(i) != 1)
        theirs.push_back(dim);
    for (int64_t i = first; i < last; ++i)
      if (to.getDimSize(i) != 1)
        wanted.push_back(i);
    return theirs == wanted;
  };
  unsigned reads = 0;
  for (unsigned bit : {kRow, kFull, kColumn, kSingle, kOther}) {
    if (!(access & bit))
      continue;
    if (same)
      reads |= bit;
    else if (bit == kFull && split && spans(0, *split) && (rows > 1 || single))
      reads |= kRow;
    else if (single)
      reads |= kSingle;
    else if (bit == kFull && split && spans(*split, to.getRank()))
      reads |= kColumn;
    else
      reads |= kOther;
  }
  return reads;
}

//===- Passes ------------------------------------------------------------===//

void RowPlan::findPasses() {
  auto pass = [&](int index) -> RowPass & {
    if (int(passes.size()) <= index)
      passes.resize(index + 1);
    return passes[index];
  };
  Block &block = kernel.getBody().front();
  for (ReduceOp reduce : block.getOps<ReduceOp>())
    if (accesses.lookup(reduce.getY()))
      pass(levels.lookup(reduce.getX())).reduces.push_back(reduce);
  for (auto [i, value] : llvm::enumerate(outputs)) {
    if (accesses.lookup(value) & kFull &&
        tensorType(value).getNumElements() != rows)
      pass(levels.lookup(value)).outputs.push_back(i);
    else
      rowOutputs.push_back(i);
  }
  // Values of one element a row that an op of the row's elements reads.
  llvm::SetVector<Value> found;
  for (Operation &op : block.without_terminator())
    if (isa<BroadcastOp>(op) && (accesses.lookup(op.getResult(0)) & kFull))
      if (Value x = op.getOperand(0);
          accesses.lookup(x) == kRow &&
          !isa_and_nonnull<ReduceOp>(x.getDefiningOp()))
        found.insert(x);
  rowValues = found.takeVector();
}

void RowPlan::findKept() {
  for (auto [index, pass] : llvm::enumerate(passes)) {
    llvm::SmallDenseSet<Value> seen;
    for (ReduceOp reduce : pass.reduces)
      walk(reduce.getX(), index, seen);
    for (unsigned output : pass.outputs)
      walk(outputs[output], index, seen);
  }
}

/// Goes through what pass number `index` computes.
void RowPlan::walk(Value value, int index, llvm::SmallDenseSet<Value> &seen) {
  Operation *op = value.getDefiningOp();
  if (!seen.insert(value).second || isKept.contains(value))
    return;
  if (!op || accesses.lookup(value) == kRow) {
    passes[index].cost += 1;
    bool isElements =
        !op && tensorType(value).getNumElements() == rows * cols && cols > 1;
    if (isElements && computedIn.try_emplace(value, index).second)
      passes[index].streams.push_back(
          cast<BlockArgument>(value).getArgNumber());
    return;
  }
  auto it = computedIn.find(value);
  if (it == computedIn.end()) {
    computedIn[value] = index;
  } else if (it->second < index && accesses.lookup(value) == kFull &&
             rowRank(tensorType(value).getShape())) {
    llvm::SmallDenseSet<Value> counted;
    if (costOf(value, counted) > kCheap) {
      isKept.insert(value);
      passes[it->second].kept.push_back(value);
      return;
    }
  }
  passes[index].cost += ownCost(op);
  if (!isa<ReduceOp>(op))
    for (Value operand : op->getOperands())
      walk(operand, index, seen);
}

int64_t RowPlan::costOf(Value value, llvm::SmallDenseSet<Value> &seen) const {
  if (!seen.insert(value).second)
    return 0;
  Operation *op = value.getDefiningOp();
  if (!op || accesses.lookup(value) == kRow || isKept.contains(value))
    return 1;
  int64_t cost = ownCost(op);
  for (Value operand : op->getOperands())
    cost += costOf(operand, seen);
  return cost;
}

} // namespace tessera::lowering
