// Forward and reverse mode over straight-line programs, from the ops' jvp and
// transpose rules alone.
#include "dialects/Tessera/Transforms/Autodiff.h"
#include "dialects/Tessera/IR/Expr.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace tessera::ir {

SmallVector<Operation *> dependentOps(ValueRange outputs, ValueRange inputs) {
  llvm::DenseSet<Value> sources(inputs.begin(), inputs.end());
  llvm::DenseMap<Operation *, bool>
      depends; // Finished ops, and whether they depend on an input.
  SmallVector<Operation *> order;
  SmallVector<std::pair<Operation *, unsigned>> stack;
  auto visit = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && !sources.contains(value) && !depends.contains(op))
      stack.push_back({op, 0});
  };
  for (Value output : outputs) {
    visit(output);
    while (!stack.empty()) {
      auto &[op, next] = stack.back();
      if (depends.contains(op)) {
        stack.pop_back();
      } else if (next < op->getNumOperands()) {
        visit(op->getOperand(next++));
      } else {
        Operation *done = op;
        stack.pop_back();
        bool any = llvm::any_of(done->getOperands(), [&](Value operand) {
          return sources.contains(operand) ||
                 (operand.getDefiningOp() &&
                  depends.lookup(operand.getDefiningOp()));
        });
        depends[done] = any;
        if (any)
          order.push_back(done);
      }
    }
  }
  return order;
}

static bool isFloat(Value value) {
  return isa<FloatType>(tensorType(value).getElementType());
}

/// The tangent of an op's result; null for ops that carry none.
static Value tangentOf(OpBuilder &builder, Operation *op, ValueRange tangents) {
  auto rule = dyn_cast<JvpOpInterface>(op);
  return rule ? rule.jvp(builder, tangents) : Value();
}

SmallVector<Value> buildJvp(OpBuilder &builder, ValueRange outputs,
                            ValueRange inputs, ValueRange tangents) {
  llvm::DenseMap<Value, Value> tangentFor;
  for (auto [input, tangent] : llvm::zip(inputs, tangents))
    tangentFor[input] = tangent;
  for (Operation *op : dependentOps(outputs, inputs)) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(tangentFor.lookup(operand));
    if (llvm::any_of(operands, [](Value t) { return bool(t); }))
      tangentFor[op->getResult(0)] = tangentOf(builder, op, operands);
  }
  return llvm::map_to_vector(
      outputs, [&](Value output) { return tangentFor.lookup(output); });
}

namespace {
/// Accumulated cotangents, by value.
class Cotangents {
public:
  Cotangents(OpBuilder &builder) : builder(builder) {}
  Value lookup(Value value) const { return sums.lookup(value); }
  void add(Location loc, Value value, Value cotangent) {
    Value &sum = sums[value];
    sum = detail::addTangents(builder, loc, sum, cotangent);
  }

private:
  OpBuilder &builder;
  llvm::DenseMap<Value, Value> sums;
};

/// Linearises one op at its recorded operands, transposes the linear program,
/// and removes it again.
class OpTransposer {
public:
  OpTransposer(OpBuilder &builder, Operation *op, ArrayRef<bool> active)
      : builder(builder), op(op) {
    Operation *before = lastOp();
    for (auto [operand, isActive] : llvm::zip(op->getOperands(), active)) {
      bool real = isActive && isFloat(operand);
      tangents.push_back(real ? Value(InputOp::create(builder, op->getLoc(),
                                                      operand.getType()))
                              : Value());
    }
    bool any = llvm::any_of(tangents, [](Value t) { return bool(t); });
    result = any ? tangentOf(builder, op, tangents) : Value();
    collect(before);
  }

  void run(Value cotangent, Cotangents &sums) {
    if (result) {
      Cotangents local(builder);
      local.add(op->getLoc(), result, cotangent);
      for (Operation *linear : llvm::reverse(linearOps))
        transposeOne(linear, local);
      for (auto [operand, tangent] : llvm::zip(op->getOperands(), tangents))
        if (tangent)
          if (Value sum = local.lookup(tangent))
            sums.add(op->getLoc(), operand, sum);
    }
    for (Operation *linear : llvm::reverse(linearOps))
      linear->erase();
    for (Value tangent : tangents)
      if (tangent)
        tangent.getDefiningOp()->erase();
  }

private:
  Operation *lastOp() {
    auto point = builder.getInsertionPoint();
    return point == builder.getInsertionBlock()->begin() ? nullptr
                                                         : &*std::prev(point);
  }

  /// Finds, among the ops made since `before`, those that depend on a tangent.
  void collect(Operation *before) {
    llvm::DenseSet<Value> linear;
    for (Value tangent : tangents)
      if (tangent)
        linear.insert(tangent);
    auto it = before ? std::next(before->getIterator())
                     : builder.getInsertionBlock()->begin();
    for (; it != builder.getInsertionPoint(); ++it)
      if (llvm::any_of(it->getOperands(),
                       [&](Value v) { return linear.contains(v); })) {
        linear.insert(it->getResult(0));
        linearOps.push_back(&*it);
      }
    linearValues = std::move(linear);
  }

  void transposeOne(Operation *linear, Cotangents &local) {
    Value cotangent = local.lookup(linear->getResult(0));
    if (!cotangent)
      return;
    SmallVector<bool> mask =
        llvm::map_to_vector(linear->getOperands(),
                            [&](Value v) { return linearValues.contains(v); });
    auto rule = cast<TransposeOpInterface>(linear);
    for (auto [operand, part] : llvm::zip(
             linear->getOperands(), rule.transpose(builder, cotangent, mask)))
      if (part)
        local.add(op->getLoc(), operand, part);
  }

  OpBuilder &builder;
  Operation *op;
  SmallVector<Value> tangents;
  Value result;
  SmallVector<Operation *> linearOps;
  llvm::DenseSet<Value> linearValues;
};
} // namespace

SmallVector<Value> buildVjp(OpBuilder &builder, ValueRange outputs,
                            ValueRange inputs, ValueRange cotangents) {
  // Integers and bools carry nothing back, and must not decide in which order
  // the cotangents of others are added.
  SmallVector<Value> real, realCotangents;
  for (auto [output, cotangent] : llvm::zip_equal(outputs, cotangents))
    if (isFloat(output)) {
      real.push_back(output);
      realCotangents.push_back(cotangent);
    }
  SmallVector<Operation *> order = dependentOps(real, inputs);
  llvm::DenseSet<Value> active(inputs.begin(), inputs.end());
  for (Operation *op : order)
    active.insert(op->getResult(0));
  Cotangents sums(builder);
  for (auto [output, cotangent] : llvm::zip(real, realCotangents))
    if (cotangent && active.contains(output))
      sums.add(output.getLoc(), output, cotangent);
  llvm::DenseSet<Value> sources(inputs.begin(), inputs.end());
  for (Operation *op : llvm::reverse(order)) {
    Value cotangent = sums.lookup(op->getResult(0));
    if (!cotangent || op->hasTrait<NonDifferentiable>())
      continue;
    auto mask = llvm::map_to_vector(
        op->getOperands(), [&](Value v) { return active.contains(v); });
    OpTransposer(builder, op, mask).run(cotangent, sums);
  }
  return llvm::map_to_vector(inputs,
                             [&](Value input) { return sums.lookup(input); });
}

} // namespace tessera::ir
