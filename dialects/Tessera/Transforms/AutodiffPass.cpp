// Derivatives of whole functions, for files: wraps the functions that traces
// are differentiated with.
#include "dialects/Tessera/IR/Expr.h"
#include "dialects/Tessera/Transforms/Autodiff.h"
#include "dialects/Tessera/Transforms/Passes.h"

using namespace mlir;

namespace tessera::ir {
#define GEN_PASS_DEF_AUTODIFFPASS
#include "dialects/Tessera/Transforms/Passes.h.inc"

static bool isFloatTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<FloatType>(tensor.getElementType());
}

namespace {
/// A copy of a function under construction, to which derivatives are appended.
class Twin {
public:
  Twin(func::FuncOp function, StringRef suffix)
      : twin(function.clone()), body(twin.getBody().front()),
        builder(body.getTerminator()) {
    twin.setName((function.getName() + suffix).str());
    function->getBlock()->getOperations().insertAfter(function->getIterator(),
                                                      twin);
    llvm::append_range(results, body.getTerminator()->getOperands());
  }

  /// The cotangents of `inputs`; float results get theirs from new arguments,
  /// or one if there is only a scalar.
  void addGradients(ValueRange inputs) {
    SmallVector<Value> outputs = floatResults(), cotangents;
    bool isScalar =
        outputs.size() == 1 && tensorType(outputs[0]).getRank() == 0;
    for (Value output : outputs)
      cotangents.push_back(isScalar ? detail::full(builder, output.getLoc(),
                                                   tensorType(output), 1.0)
                                    : argument(output));
    append(inputs, buildVjp(builder, outputs, inputs, cotangents));
  }

  /// The tangents of the float results, from new arguments for those of
  /// `inputs`.
  void addTangents(ValueRange inputs) {
    SmallVector<Value> outputs = floatResults(),
                       tangents = llvm::map_to_vector(
                           inputs, [&](Value v) { return argument(v); });
    append(outputs, buildJvp(builder, outputs, inputs, tangents));
  }

  Value input(int64_t number) { return body.getArgument(number); }

  void finish() {
    body.getTerminator()->setOperands(results);
    twin.setType(builder.getFunctionType(body.getArgumentTypes(),
                                         ValueRange(results).getTypes()));
    twin.setAllArgAttrs(ArrayRef<DictionaryAttr>(SmallVector<DictionaryAttr>(
        body.getNumArguments(), builder.getDictionaryAttr({}))));
    twin.setAllResultAttrs(ArrayRef<DictionaryAttr>(SmallVector<DictionaryAttr>(
        results.size(), builder.getDictionaryAttr({}))));
  }

private:
  SmallVector<Value> floatResults() {
    return llvm::filter_to_vector(
        results, [](Value v) { return isFloatTensor(v.getType()); });
  }
  Value argument(Value like) {
    return body.addArgument(like.getType(), like.getLoc());
  }
  void append(ValueRange likes, ArrayRef<Value> derivatives) {
    for (auto [like, value] : llvm::zip_equal(likes, derivatives))
      results.push_back(
          value ? value
                : detail::full(builder, like.getLoc(), tensorType(like), 0.0));
  }

  func::FuncOp twin;
  Block &body;
  OpBuilder builder;
  SmallVector<Value> results;
};

struct AutodiffPass : impl::AutodiffPassBase<AutodiffPass> {
  using AutodiffPassBase::AutodiffPassBase;

  void runOnOperation() override {
    auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (function.isPublic() && !function.isExternal() &&
          failed(differentiate(function)))
        return signalPassFailure();
  }

  LogicalResult differentiate(func::FuncOp function) {
    FailureOr<SmallVector<int64_t>> numbers = inputNumbers(function);
    if (failed(numbers))
      return failure();
    Twin twin(function, mode == AutodiffMode::grad ? "_grad" : "_jvp");
    auto inputs = llvm::map_to_vector(
        *numbers, [&](int64_t number) { return twin.input(number); });
    if (mode == AutodiffMode::grad)
      twin.addGradients(inputs);
    else
      twin.addTangents(inputs);
    twin.finish();
    return success();
  }

  FailureOr<SmallVector<int64_t>> inputNumbers(func::FuncOp function) {
    SmallVector<int64_t> numbers(gradOf.begin(), gradOf.end());
    for (int64_t number : numbers)
      if (number < 0 || number >= function.getNumArguments() ||
          !isFloatTensor(function.getArgumentTypes()[number]))
        return function.emitOpError("has no argument ")
               << number << " of floats to differentiate by";
    if (numbers.empty())
      for (auto [number, type] : llvm::enumerate(function.getArgumentTypes()))
        if (isFloatTensor(type))
          numbers.push_back(number);
    return numbers;
  }
};
} // namespace

} // namespace tessera::ir
