// The pass: finds math operations, calls their expansions, and checks what is
// left.
#include "lowering/Math/ExpandMath.h"
#include "lowering/Math/Functions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tessera::lowering {

using namespace vmath;

namespace {
using Unary = Val (*)(Val);
} // namespace

/// The expansion of a function of one argument, or null if the operation stays.
static Unary unaryExpansion(Operation *op, const MathTarget &target) {
  Unary rounding =
      llvm::TypeSwitch<Operation *, Unary>(op)
          .Case<math::FloorOp>([](auto) { return buildFloor; })
          .Case<math::CeilOp>([](auto) { return buildCeil; })
          .Case<math::TruncOp>([](auto) { return buildTrunc; })
          .Case<math::RoundEvenOp>([](auto) { return buildRoundEven; })
          .Default(Unary(nullptr));
  if (rounding)
    return target.rounding ? nullptr : rounding;
  return llvm::TypeSwitch<Operation *, Unary>(op)
      .Case<math::ExpOp>([](auto) { return buildExp; })
      .Case<math::Exp2Op>([](auto) { return buildExp2; })
      .Case<math::ExpM1Op>([](auto) { return buildExpM1; })
      .Case<math::LogOp>([](auto) { return buildLog; })
      .Case<math::Log2Op>([](auto) { return buildLog2; })
      .Case<math::Log10Op>([](auto) { return buildLog10; })
      .Case<math::Log1pOp>([](auto) { return buildLog1p; })
      .Case<math::TanhOp>([](auto) { return buildTanh; })
      .Case<math::ErfOp>([](auto) { return buildErf; })
      .Case<math::SinOp>([](auto) { return buildSin; })
      .Case<math::CosOp>([](auto) { return buildCos; })
      .Case<math::RsqrtOp>([](auto) { return buildRsqrt; })
      .Case<math::RoundOp>([](auto) { return buildRound; })
      .Default(Unary(nullptr));
}

static bool isSupportedType(Type type) {
  if (auto vector = dyn_cast<VectorType>(type)) {
    if (vector.getRank() != 1 || vector.isScalable())
      return false;
    type = vector.getElementType();
  }
  return type.isF32() || type.isF64();
}

/// The expansion of a conversion between f32 and a narrow float, or null if the
/// operation stays.
static Unary conversionExpansion(Operation *op, const MathTarget &target) {
  if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
    return nullptr;
  Type from = getElementTypeOrSelf(op->getOperand(0)),
       to = getElementTypeOrSelf(op->getResult(0));
  if (to.isF32() && from.isF16())
    return target.f16Conversions ? nullptr : buildWidenF16;
  if (from.isF32() && to.isF16())
    return target.f16Conversions ? nullptr : buildNarrowToF16;
  if (from.isF32() && to.isBF16())
    return target.bf16Rounding ? nullptr : buildNarrowToBF16;
  return nullptr;
}

/// The value that replaces `op`'s result, or null if it stays.
static Value expansionOf(Operation *op, Emitter &emitter) {
  auto operand = [&](unsigned i) { return Val{&emitter, op->getOperand(i)}; };
  if (Unary unary = unaryExpansion(op, emitter.target))
    return unary(operand(0)).v;
  if (isa<math::PowFOp>(op))
    return buildPow(operand(0), operand(1)).v;
  if (Unary conversion = conversionExpansion(op, emitter.target))
    return conversion(operand(0)).v;
  return {};
}

void expandMath(Operation *root, const MathTarget &target) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(op) ||
        (isa_and_nonnull<math::MathDialect>(op->getDialect()) &&
         op->getNumResults() == 1 &&
         isSupportedType(op->getResult(0).getType())))
      ops.push_back(op);
  });
  ConstantCache cache;
  for (Operation *op : ops) {
    OpBuilder builder(op);
    Emitter emitter{builder, op->getLoc(), target, cache};
    if (Value value = expansionOf(op, emitter)) {
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
    }
  }
}

bool isMathLegal(Operation *op, const MathTarget &target) {
  if (!isa_and_nonnull<math::MathDialect>(op->getDialect()))
    return true;
  if (isa<math::AbsIOp, math::CountLeadingZerosOp, math::CountTrailingZerosOp,
          math::CtPopOp>(op))
    return true;
  if (!isSupportedType(op->getOperand(0).getType()))
    return false;
  if (isa<math::FloorOp, math::CeilOp, math::TruncOp, math::RoundEvenOp>(op))
    return target.rounding;
  return isa<math::FmaOp, math::SqrtOp, math::AbsFOp, math::CopySignOp,
             math::IsFiniteOp, math::IsInfOp, math::IsNaNOp, math::IsNormalOp>(
      op);
}

LogicalResult verifyMath(Operation *root, const MathTarget &target) {
  auto result = root->walk([&](Operation *op) {
    if (isMathLegal(op, target))
      return WalkResult::advance();
    op->emitError() << "'" << op->getName() << "' on "
                    << op->getOperand(0).getType()
                    << " has no expansion and would become a call";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct ExpandMathPass : PassWrapper<ExpandMathPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMathPass)
  explicit ExpandMathPass(const MathTarget &target) : target(target) {}

  llvm::StringRef getArgument() const override { return "tessera-expand-math"; }
  llvm::StringRef getDescription() const override {
    return "Rewrite math operations into exact arithmetic with the same bits "
           "at every vector width";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, func::FuncDialect, math::MathDialect,
                    scf::SCFDialect, vector::VectorDialect>();
  }
  void runOnOperation() override {
    expandMath(getOperation(), target);
    if (failed(verifyMath(getOperation(), target)))
      signalPassFailure();
  }

  MathTarget target;
};
} // namespace

LogicalResult expandKernelMath(ModuleOp module, const TargetInfo &info) {
  MathTarget target{info.hasFMA, info.hasRounding, info.hasHalfConversions,
                    info.hasBF16Rounding};
  expandMath(module, target);
  return verifyMath(module, target);
}

std::unique_ptr<Pass> createExpandMathPass(const MathTarget &target) {
  return std::make_unique<ExpandMathPass>(target);
}

} // namespace tessera::lowering
