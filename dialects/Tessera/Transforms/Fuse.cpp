// Forms kernel regions from groups of ops.
//
// Why: memory traffic, not arithmetic, bounds most programs. A value that stays
// inside a kernel is never written.
//   %1 = mul %a, %b;  %2 = add %1, %c   ->   %2 = kernel loop(%a, %b, %c) {
//   mul; add; yield }
#include "dialects/Tessera/Transforms/Fuse.h"
#include "dialects/Tessera/Transforms/FusionGroups.h"

using namespace mlir;

namespace tessera::ir {

namespace {

/// Builds one kernel op from a group.
class KernelBuilder {
public:
  KernelBuilder(const FusionGroups &groups, const Group &group,
                IRMapping &stored)
      : groups(groups), group(group), stored(stored) {}

  void build(OpBuilder &builder) {
    SmallVector<Location> places;
    SmallVector<Value> yielded;
    SmallVector<Type> types;
    Block *block = new Block();
    OpBuilder inside(builder.getContext());
    inside.setInsertionPointToEnd(block);
    for (Operation *op : group.ops) {
      clone(op, inside);
      places.push_back(op->getLoc());
      if (groups.escapes(op)) {
        results.push_back(op->getResult(0));
        yielded.push_back(internal.lookup(op->getResult(0)));
        types.push_back(op->getResult(0).getType());
      }
    }
    Location loc = FusedLoc::get(builder.getContext(), places);
    YieldOp::create(inside, loc, yielded);
    SmallVector<Attribute> reasons;
    for (const std::string &reason : group.reasons)
      reasons.push_back(builder.getStringAttr(reason));
    auto kernel = KernelOp::create(
        builder, loc, types, group.kind, inputs,
        reasons.empty() ? ArrayAttr() : builder.getArrayAttr(reasons));
    kernel.getBody().push_back(block);
    for (auto [old, now] : llvm::zip(results, kernel.getOutputs()))
      stored.map(old, now);
  }

private:
  /// The value inside the region that stands for `value` outside.
  Value operand(Value value, OpBuilder &inside) {
    if (Value known = internal.lookupOrNull(value))
      return known;
    Operation *op = value.getDefiningOp();
    bool foldsIn = op && isView(op) && !groups.isStored(op);
    if (foldsIn && (op->getNumOperands() == 0 || !stored.contains(value))) {
      clone(op, inside);
      return internal.lookup(value);
    }
    Value input = stored.lookup(value);
    inputs.push_back(input);
    Value argument =
        inside.getBlock()->addArgument(input.getType(), input.getLoc());
    internal.map(value, argument);
    return argument;
  }

  void clone(Operation *op, OpBuilder &inside) {
    IRMapping local;
    for (Value value : op->getOperands())
      local.map(value, operand(value, inside));
    Operation *copy = inside.clone(*op, local);
    internal.map(op->getResult(0), copy->getResult(0));
  }

  const FusionGroups &groups;
  const Group &group;
  IRMapping &stored; ///< Values in memory: arguments and results of kernels.
  IRMapping internal;
  SmallVector<Value> inputs, results;
};

/// Groups in an order in which each comes after those whose results it reads.
SmallVector<const Group *> inOrder(const FusionGroups &groups) {
  SmallVector<const Group *> order;
  SmallVector<char> state(groups.all().size(), 0);
  SmallVector<std::pair<int, bool>> work;
  for (int i = 0, n = groups.all().size(); i < n; ++i)
    if (groups.all()[i].alive)
      work.push_back({i, false});
  std::reverse(work.begin(), work.end());
  while (!work.empty()) {
    auto [index, finished] = work.pop_back_val();
    const Group &group = groups.all()[index];
    if (finished) {
      order.push_back(&group);
      continue;
    }
    if (std::exchange(state[index], 1))
      continue;
    work.push_back({index, true});
    for (Operation *op : group.ops)
      for (Value operand : op->getOperands())
        if (Operation *root = groups.trace(operand).root.getDefiningOp())
          if (int producer = groups.groupOf(root);
              producer >= 0 && producer != index && !state[producer])
            work.push_back({producer, false});
  }
  return order;
}

} // namespace

/// Results are distinct buffers: a result that is an argument, or another
/// result again, becomes a copy, which is an identity at the result.
static void separateResults(func::FuncOp function) {
  Operation *ret = function.getBody().front().getTerminator();
  OpBuilder builder(ret);
  llvm::SmallDenseSet<Value> seen;
  for (OpOperand &operand : ret->getOpOperands()) {
    Use use = traceViews(operand.get(), [](Operation *op) {
      return !isa<ReshapeOp, IdentityOp>(op);
    });
    if (isa<BlockArgument>(use.root) || !seen.insert(use.root).second)
      operand.set(IdentityOp::create(builder, operand.get().getLoc(),
                                     operand.get().getType(), operand.get()));
  }
}

void formKernels(func::FuncOp function, bool fuse) {
  if (!function.getOps<KernelOp>().empty())
    return; // A program of the kernels stage already.
  separateResults(function);
  FusionGroups groups(function);
  if (fuse)
    groups.fuse();
  Block &block = function.getBody().front();
  OpBuilder builder(block.getTerminator());
  IRMapping stored;
  for (Value argument : block.getArguments())
    stored.map(argument, argument);
  for (const Group *group : inOrder(groups))
    KernelBuilder(groups, *group, stored).build(builder);

  // What remains outside kernels are results, possibly seen under another
  // shape.
  Operation *ret = block.getTerminator();
  for (OpOperand &operand : ret->getOpOperands()) {
    Value value = operand.get();
    if (!stored.contains(value)) {
      Use use = groups.trace(value);
      Value root = stored.lookup(use.root);
      if (root.getType() != value.getType())
        root =
            ReshapeOp::create(builder, value.getLoc(), value.getType(), root);
      stored.map(value, root);
    }
    operand.set(stored.lookup(value));
  }
  // The ops that kernels were made from are dead now; erasing backwards meets
  // users first.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (!isa<KernelOp>(op) && &op != ret && op.use_empty())
      op.erase();
}

} // namespace tessera::ir
