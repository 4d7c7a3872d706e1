// Delta debugging of programs: edits that keep a program valid, each kept if it
// still fails, until none does.
#include "tools/tessera-reduce/ReduceProgram.h"
#include "dialects/Tessera/IR/Tessera.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace tessera {

static func::FuncOp mainOf(ModuleOp module) {
  return module.lookupSymbol<func::FuncOp>("main");
}

static void setResults(func::FuncOp function, ValueRange results) {
  function.getBody().front().getTerminator()->setOperands(results);
  function.setType(FunctionType::get(
      function.getContext(), function.getArgumentTypes(), results.getTypes()));
  function.removeResAttrsAttr();
}

/// The values that ops of the body define, in order.
static SmallVector<Value> definedValues(func::FuncOp function) {
  SmallVector<Value> values;
  for (Operation &op : function.getBody().front().without_terminator())
    values.push_back(op.getResult(0));
  return values;
}

/// Drops ops and arguments that nothing uses.
static void dropUnused(func::FuncOp function) {
  SmallVector<Value> values = definedValues(function);
  for (Value value : llvm::reverse(values))
    if (value.use_empty())
      value.getDefiningOp()->erase();
  llvm::BitVector unused(function.getNumArguments());
  for (BlockArgument argument : function.getArguments())
    if (argument.use_empty())
      unused.set(argument.getArgNumber());
  (void)function.eraseArguments(unused);
}

namespace {
/// One kind of edit: applies its n-th form to a function. False if there are
/// fewer forms; true also where it changes nothing.
using Edit = bool (*)(func::FuncOp function, size_t n);

class Reducer {
public:
  Reducer(ModuleOp module, llvm::function_ref<bool(ModuleOp)> fails)
      : smallest(module.clone()), fails(fails) {}

  /// Tries every form of an edit; whether one made the program smaller.
  bool tryAll(Edit edit) {
    bool any = false;
    for (size_t n = 0;;) {
      OwningOpRef<ModuleOp> candidate = smallest->clone();
      if (!edit(mainOf(*candidate), n))
        return any;
      dropUnused(mainOf(*candidate));
      if (accept(std::move(candidate)))
        any = true; // what was the next form is now the n-th
      else
        ++n;
    }
  }

  OwningOpRef<ModuleOp> smallest;

private:
  bool accept(OwningOpRef<ModuleOp> candidate) {
    ScopedDiagnosticHandler silent(candidate->getContext(),
                                   [](Diagnostic &) { return success(); });
    if (cost(*candidate) >= cost(*smallest) || failed(verify(*candidate)) ||
        !fails(*candidate))
      return false;
    smallest = std::move(candidate);
    return true;
  }

  /// Ops first, then results and arguments, then elements.
  static std::array<int64_t, 3> cost(ModuleOp module) {
    func::FuncOp function = mainOf(module);
    int64_t elements = 0, ops = 0;
    for (Operation &op : function.getBody().front().without_terminator()) {
      ++ops;
      elements += ir::tensorType(op.getResult(0)).getNumElements();
    }
    for (Type type : function.getArgumentTypes())
      elements += cast<RankedTensorType>(type).getNumElements();
    return {ops + function->hasAttr(kGradient),
            function.getNumResults() + function.getNumArguments(), elements};
  }

  llvm::function_ref<bool(ModuleOp)> fails;
};
} // namespace

// The edits

static bool withoutGradient(func::FuncOp function, size_t n) {
  function->removeAttr(kGradient);
  return n == 0;
}

/// One value is all that is returned.
static bool returnOne(func::FuncOp function, size_t n) {
  SmallVector<Value> values = definedValues(function);
  if (n >= values.size())
    return false;
  setResults(function, values[n]);
  return true;
}

static bool dropResult(func::FuncOp function, size_t n) {
  Operation *end = function.getBody().front().getTerminator();
  SmallVector<Value> results(end->getOperands());
  if (n >= results.size() || results.size() == 1)
    return false;
  results.erase(results.begin() + n);
  setResults(function, results);
  return true;
}

static bool replaceByArgument(func::FuncOp function, size_t n) {
  SmallVector<Value> values = definedValues(function);
  if (n >= values.size())
    return false;
  Value value = values[values.size() - 1 - n];
  (void)function.insertArgument(function.getNumArguments(), value.getType(), {},
                                value.getLoc());
  value.replaceAllUsesWith(function.getArguments().back());
  return true;
}

/// Replaces the n-th value by something of its type that stands before it.
static bool replaceByOther(func::FuncOp function, size_t n) {
  SmallVector<Value> values = definedValues(function);
  for (Value value : llvm::reverse(values)) {
    SmallVector<Value> others(value.getDefiningOp()->getOperands());
    llvm::append_range(others, function.getArguments());
    for (Value other : others)
      if (other.getType() == value.getType() && n-- == 0) {
        value.replaceAllUsesWith(other);
        return true;
      }
  }
  return false;
}

static SmallVector<int64_t> distinctSizes(func::FuncOp function) {
  SmallVector<int64_t> sizes;
  auto add = [&](Type type) {
    for (int64_t size : cast<RankedTensorType>(type).getShape())
      if (size > 1 && !llvm::is_contained(sizes, size))
        sizes.push_back(size);
  };
  llvm::for_each(function.getArgumentTypes(), add);
  for (Value value : definedValues(function))
    add(value.getType());
  return sizes;
}

/// Makes a size smaller wherever it stands in a type. Views may then be
/// invalid, and the edit is refused.
static bool shrinkSize(func::FuncOp function, size_t n) {
  SmallVector<int64_t> sizes = distinctSizes(function);
  if (n >= 3 * sizes.size())
    return false;
  int64_t from = sizes[n / 3];
  int64_t to = n % 3 == 0 ? 1 : n % 3 == 1 ? (from + 1) / 2 : from - 1;
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](RankedTensorType type) -> std::optional<Type> {
    SmallVector<int64_t> shape(type.getShape());
    llvm::replace(shape, from, to);
    return type.clone(shape);
  });
  replacer.recursivelyReplaceElementsIn(function, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  return true;
}

OwningOpRef<ModuleOp> reduceProgram(ModuleOp module,
                                    llvm::function_ref<bool(ModuleOp)> fails) {
  Reducer reducer(module, fails);
  while (true) {
    bool smaller = false;
    for (Edit edit : {withoutGradient, returnOne, dropResult, replaceByArgument,
                      replaceByOther, shrinkSize})
      smaller |= reducer.tryAll(edit);
    if (!smaller)
      return std::move(reducer.smallest);
  }
}

} // namespace tessera
