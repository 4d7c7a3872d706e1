// Evaluates functions of tessera ops, op by op, in the order in which they
// stand.
#include "lowering/Reference/Interpreter.h"
#include "dialects/Tessera/Transforms/Decompose.h"
#include "lowering/Reference/Tensor.h"
#include "runtime/FloatEnv.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering {
namespace reference {

/// The values of one block; each is dropped after its last use.
class Frame {
public:
  void set(Value value, Tensor tensor) {
    uses[value] = llvm::range_size(value.getUses());
    values.insert_or_assign(value, std::make_unique<Tensor>(std::move(tensor)));
  }
  const Tensor *get(Value value) const { return values.at(value).get(); }
  void drop(ValueRange operands) {
    for (Value operand : operands)
      if (--uses[operand] == 0)
        values.erase(operand);
  }

private:
  llvm::DenseMap<Value, std::unique_ptr<Tensor>> values;
  llvm::DenseMap<Value, int64_t> uses;
};

static std::optional<Tensor> evaluate(Operation *op, Operands operands) {
  using Family = std::optional<Tensor> (*)(Operation *, Operands);
  for (Family family : {evaluateElementwise, evaluateReduction, evaluateProduct,
                        evaluateShape, evaluateGenerator})
    if (auto result = family(op, operands))
      return result;
  return std::nullopt;
}

/// Evaluates a block and gives the operands of its terminator.
static FailureOr<std::vector<Tensor>> evaluateBlock(Block &block,
                                                    Operands arguments) {
  Frame frame;
  for (auto [argument, tensor] :
       llvm::zip_equal(block.getArguments(), arguments))
    frame.set(argument, *tensor);
  for (Operation &op : block.without_terminator()) {
    auto operands = llvm::map_to_vector(op.getOperands(),
                                        [&](Value v) { return frame.get(v); });
    if (auto kernel = dyn_cast<KernelOp>(op)) {
      auto results = evaluateBlock(kernel.getBody().front(), operands);
      if (failed(results))
        return failure();
      for (auto [value, tensor] :
           llvm::zip_equal(kernel.getOutputs(), *results))
        frame.set(value, std::move(tensor));
    } else if (auto result = evaluate(&op, operands)) {
      frame.set(op.getResult(0), std::move(*result));
    } else {
      return op.emitOpError("is unknown to the reference interpreter");
    }
    frame.drop(op.getOperands());
  }
  std::vector<Tensor> results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(*frame.get(value));
  return results;
}

} // namespace reference

FailureOr<std::vector<TensorBytes>>
interpret(func::FuncOp function, const std::vector<TensorBytes> &inputs) {
  using namespace reference;
  runtime::FloatEnv environment;
  if (inputs.size() != function.getNumArguments())
    return function.emitOpError("takes ")
           << function.getNumArguments() << " inputs, but " << inputs.size()
           << " are given";
  std::vector<Tensor> arguments;
  for (auto [type, bytes] : llvm::zip(function.getArgumentTypes(), inputs)) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor ||
        int64_t(bytes.size()) !=
            tensor.getNumElements() * bytesOf(tensor.getElementType()))
      return function.emitOpError("has an input of ")
             << bytes.size() << " bytes for " << typeText(type);
    arguments.emplace_back(type, bytes);
  }
  // A composite's value is that of its decomposition.
  OwningOpRef<func::FuncOp> primitives = function.clone();
  decomposeComposites(*primitives);
  auto operands =
      llvm::map_to_vector(arguments, [](const Tensor &x) { return &x; });
  auto results = evaluateBlock(primitives->getBody().front(), operands);
  if (failed(results))
    return failure();
  std::vector<TensorBytes> bytes;
  for (Tensor &result : *results)
    bytes.push_back(std::move(result.raw()));
  return bytes;
}

} // namespace tessera::lowering
