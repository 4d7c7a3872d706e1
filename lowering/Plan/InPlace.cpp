// Decides what is overwritten. Both decisions follow from the order of the
// kernels alone: when a value is read for the last time, and when a result's
// bytes are written for the first.
#include "lowering/Plan/InPlace.h"
#include "dialects/Tessera/IR/Tessera.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering {

Value storedValue(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getX();
  return value;
}

/// Whether every element of `value`, inside a kernel, is needed only for the
/// output elements of the same index. Each value is looked at once: there are
/// many more paths than values.
static bool isReadInPlace(Value value) {
  auto shape = cast<RankedTensorType>(value.getType()).getShape();
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Operation *> work(value.getUsers());
  while (!work.empty()) {
    Operation *user = work.pop_back_val();
    if (isa<YieldOp>(user) || !seen.insert(user).second)
      continue;
    if (!isa<ScalarOpInterface, IdentityOp, StopGradientOp>(user) ||
        cast<RankedTensorType>(user->getResult(0).getType()).getShape() !=
            shape)
      return false;
    llvm::append_range(work, user->getUsers());
  }
  return true;
}

namespace {
class InPlace {
public:
  explicit InPlace(func::FuncOp function)
      : function(function), kernels(function.getOps<KernelOp>()) {
    Operation *end = function.getBody().front().getTerminator();
    for (auto [i, result] : llvm::enumerate(end->getOperands()))
      resultOf[storedValue(result)] = i;
    for (auto [step, kernel] : llvm::enumerate(kernels))
      for (Value input : kernel.getInputs())
        lastRead[storedValue(input)] = step;
    aliased.assign(function.getNumArguments(), false);
    aliasOf.assign(function.getNumResults(), -1);
  }

  void run() {
    for (auto [step, kernel] : llvm::enumerate(kernels))
      overwriteInputs(kernel, step);
    for (BlockArgument argument : function.getArguments())
      if (isDonated(argument) && !aliased[argument.getArgNumber()])
        giveAway(argument);
    Builder builder(function.getContext());
    for (auto [result, argument] : llvm::enumerate(aliasOf))
      if (argument >= 0)
        function.setResultAttr(result, kAlias,
                               builder.getI64IntegerAttr(argument));
  }

private:
  bool isDonated(BlockArgument argument) {
    return function.getArgAttr(argument.getArgNumber(), kDonate) &&
           !resultOf.contains(argument);
  }

  void overwriteInputs(KernelOp kernel, int64_t step) {
    SmallVector<int64_t> chosen(kernel.getOutputs().size(), -1);
    // These kinds load what an element needs before they store it.
    if (llvm::is_contained({KernelKind::loop, KernelKind::gemm},
                           kernel.getKind()))
      for (auto [i, output] : llvm::enumerate(kernel.getOutputs()))
        chosen[i] = choose(kernel, output, step, chosen);
    for (auto [output, input] : llvm::zip(kernel.getOutputs(), chosen))
      firstWrite[output] =
          input < 0 ? step
                    : writtenAt(storedValue(kernel.getInputs()[input]), step);
    bool any = llvm::any_of(chosen, [](int64_t input) { return input >= 0; });
    kernel.setInPlaceAttr(
        any ? DenseI64ArrayAttr::get(function.getContext(), chosen) : nullptr);
  }

  /// When the bytes of an overwritten value were first written; an argument's
  /// were there before.
  int64_t writtenAt(Value value, int64_t step) {
    return isa<BlockArgument>(value) ? step : firstWrite.lookup(value);
  }

  /// The input that an output overwrites, or -1. A result takes a donated
  /// argument sooner than a value of the arena.
  int64_t choose(KernelOp kernel, Value output, int64_t step,
                 ArrayRef<int64_t> taken) {
    int64_t best = -1;
    for (auto [i, input] : llvm::enumerate(kernel.getInputs())) {
      if (llvm::is_contained(taken, int64_t(i)) ||
          input.getType() != output.getType() ||
          !canOverwrite(kernel, i, output, step))
        continue;
      if (auto argument = dyn_cast<BlockArgument>(storedValue(input))) {
        aliased[argument.getArgNumber()] = true;
        aliasOf[resultOf.lookup(output)] = argument.getArgNumber();
        return i;
      }
      if (best < 0)
        best = i;
    }
    return best;
  }

  bool canOverwrite(KernelOp kernel, size_t number, Value output,
                    int64_t step) {
    Value value = storedValue(kernel.getInputs()[number]);
    int64_t uses = llvm::count_if(kernel.getInputs(), [&](Value input) {
      return storedValue(input) == value;
    });
    if (uses != 1 || lastRead.lookup(value) != step ||
        !isReadInPlace(kernel.getBody().front().getArgument(number)))
      return false;
    if (auto argument = dyn_cast<BlockArgument>(value))
      return isDonated(argument) && !aliased[argument.getArgNumber()] &&
             resultOf.contains(output);
    return !resultOf.contains(value);
  }

  void giveAway(BlockArgument argument) {
    auto type = cast<RankedTensorType>(argument.getType());
    int64_t last = lastRead.contains(argument) ? lastRead[argument] : -1;
    for (auto &[value, result] : resultOf) {
      if (aliasOf[result] >= 0 || isa<BlockArgument>(value) ||
          cast<RankedTensorType>(value.getType()).getElementType() !=
              type.getElementType() ||
          cast<RankedTensorType>(value.getType()).getNumElements() !=
              type.getNumElements() ||
          firstWrite.lookup(value) <= last)
        continue;
      aliasOf[result] = argument.getArgNumber();
      return;
    }
  }

  func::FuncOp function;
  SmallVector<KernelOp> kernels;
  llvm::MapVector<Value, int64_t> resultOf;
  llvm::DenseMap<Value, int64_t> lastRead;
  /// For a kernel's output, when its bytes, which it may have taken over from
  /// values before it, were first written.
  llvm::DenseMap<Value, int64_t> firstWrite;
  SmallVector<bool> aliased;
  SmallVector<int64_t> aliasOf;
};
} // namespace

void decideInPlace(func::FuncOp function) { InPlace(function).run(); }

} // namespace tessera::lowering
