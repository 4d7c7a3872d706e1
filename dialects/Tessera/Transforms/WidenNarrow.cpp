// Makes the f32 that the contract computes narrow floats in explicit.
//
//   add %a, %b : bf16   ->   convert (add (convert %a), (convert %b) : f32)
//
// So emitters know nothing of narrow floats but how they are stored.
#include "dialects/Tessera/Transforms/WidenNarrow.h"
#include "dialects/Tessera/IR/NarrowFloats.h"
#include "dialects/Tessera/IR/Tessera.h"

using namespace mlir;

namespace tessera::ir {

static bool isNarrow(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isNarrowFloat(tensor.getElementType());
}

bool computesNarrowFloats(Operation *op) {
  bool isComputing =
      (isa<ScalarOpInterface>(op) && !isa<SelectOp, ConvertOp>(op)) ||
      isa<ReduceOp, DotGeneralOp, IotaOp, ExtentOp>(op);
  return isComputing && (llvm::any_of(op->getOperandTypes(), isNarrow) ||
                         llvm::any_of(op->getResultTypes(), isNarrow));
}

namespace {
class Widener {
public:
  void run(func::FuncOp function) {
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) {
      if (computesNarrowFloats(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      replace(op);
  }

private:
  static RankedTensorType withElement(Type type, Type element) {
    return RankedTensorType::get(cast<RankedTensorType>(type).getShape(),
                                 element);
  }

  /// The value in f32. A view of it is converted before it is viewed, so that
  /// what simplifies views of operands still sees them.
  Value widened(OpBuilder &b, Value value) {
    if (!isNarrow(value.getType()))
      return value;
    Value &known = wide[value];
    if (known)
      return known;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(value);
    Operation *view = value.getDefiningOp();
    auto type = withElement(value.getType(), b.getF32Type());
    Value result;
    if (isa_and_nonnull<TransposeOp, ReshapeOp>(view)) {
      Value operand = widened(b, view->getOperand(0));
      result = like(b, view, {operand}, type);
    } else {
      result = ConvertOp::create(b, value.getLoc(), type, value);
    }
    return wide[value] = result;
  }

  /// The op's result is one of its operands but for a sign, so that rounding
  /// leaves it as it is.
  static bool isExact(Operation *op) {
    if (auto reduce = dyn_cast<ReduceOp>(op))
      return reduce.getReduction() == Reduction::max ||
             reduce.getReduction() == Reduction::min;
    return isa<AbsOp, NegOp, MaxOp, MinOp>(op);
  }

  static Value like(OpBuilder &b, Operation *op, ValueRange operands,
                    Type type) {
    OperationState state(op->getLoc(), op->getName(), operands, {type},
                         op->getAttrs());
    return b.create(state)->getResult(0);
  }

  void replace(Operation *op) {
    OpBuilder b(op);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(widened(b, operand));
    Type type = op->getResult(0).getType(), wideType = type;
    if (isNarrow(type)) // An index is rounded once, from the integer.
      wideType =
          withElement(type, isa<IotaOp, ExtentOp>(op) ? Type(b.getI64Type())
                                                      : Type(b.getF32Type()));
    Value result = like(b, op, operands, wideType);
    if (wideType != type) {
      Value rounded = ConvertOp::create(b, op->getLoc(), type, result);
      if (isExact(op))
        wide[rounded] = result;
      result = rounded;
    }
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }

  DenseMap<Value, Value> wide;
};
} // namespace

void widenNarrowFloats(func::FuncOp function) { Widener().run(function); }

} // namespace tessera::ir
