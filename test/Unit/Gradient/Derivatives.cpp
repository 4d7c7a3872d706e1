// Builds derivative functions with the transforms under test.
#include "test/Unit/Gradient/Derivatives.h"
#include "dialects/Tessera/IR/Expr.h"
#include "dialects/Tessera/Transforms/Autodiff.h"
#include "lowering/Reference/Tensor.h"

using namespace mlir;

namespace tessera::gradient {
using namespace lowering::reference;

bool isReal(Type type) {
  return isa<FloatType>(cast<RankedTensorType>(type).getElementType());
}

Numbers numbersOf(Type type, const lowering::TensorBytes &bytes) {
  Tensor tensor(type, bytes);
  if (tensor.element().isF32())
    return Numbers(tensor.as<float>().begin(), tensor.as<float>().end());
  return Numbers(tensor.as<double>().begin(), tensor.as<double>().end());
}

lowering::TensorBytes bytesOf(Type type, const Numbers &numbers) {
  Tensor tensor(type);
  if (tensor.element().isF32())
    llvm::copy(numbers, tensor.as<float>().begin());
  else
    llvm::copy(numbers, tensor.as<double>().begin());
  return tensor.raw();
}

namespace {
/// A copy of a function whose results are being replaced.
class Derived {
public:
  explicit Derived(func::FuncOp function)
      : copy(function.clone()), body(copy.getBody().front()),
        builder(body.getTerminator()) {
    function->getBlock()->push_back(copy);
    for (Value result : body.getTerminator()->getOperands())
      if (isReal(result.getType()))
        outputs.push_back(result);
  }
  SmallVector<Value> inputs(ArrayRef<unsigned> active) {
    return llvm::map_to_vector(
        active, [&](unsigned i) -> Value { return body.getArgument(i); });
  }
  Value argument(Value like) {
    return body.addArgument(like.getType(), like.getLoc());
  }

  func::FuncOp finish(ValueRange likes, ArrayRef<Value> derivatives) {
    SmallVector<Value> results;
    for (auto [like, value] : llvm::zip_equal(likes, derivatives))
      results.push_back(value ? value
                              : ir::detail::full(builder, like.getLoc(),
                                                 ir::tensorType(like), 0.0));
    body.getTerminator()->setOperands(results);
    copy.setType(builder.getFunctionType(body.getArgumentTypes(),
                                         ValueRange(results).getTypes()));
    copy.removeArgAttrsAttr();
    copy.removeResAttrsAttr();
    return copy;
  }

  func::FuncOp copy;
  Block &body;
  OpBuilder builder;
  SmallVector<Value> outputs;
};
} // namespace

func::FuncOp forwardOf(func::FuncOp function, ArrayRef<unsigned> active) {
  Derived derived(function);
  SmallVector<Value> inputs = derived.inputs(active);
  auto tangents =
      llvm::map_to_vector(inputs, [&](Value v) { return derived.argument(v); });
  return derived.finish(
      derived.outputs,
      ir::buildJvp(derived.builder, derived.outputs, inputs, tangents));
}

func::FuncOp reverseOf(func::FuncOp function, ArrayRef<unsigned> active) {
  Derived derived(function);
  SmallVector<Value> inputs = derived.inputs(active);
  auto cotangents = llvm::map_to_vector(
      derived.outputs, [&](Value v) { return derived.argument(v); });
  return derived.finish(inputs, ir::buildVjp(derived.builder, derived.outputs,
                                             inputs, cotangents));
}

} // namespace tessera::gradient
