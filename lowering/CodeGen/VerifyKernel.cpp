// The contract of kernel modules: what may reach the lowering, and why the rest
// may not.
#include "lowering/CodeGen/VerifyKernel.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/IR/BuiltinDialect.h"

using namespace mlir;

namespace tessera::lowering {

namespace {

bool isNarrowFloat(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isBF16() || element.isF16();
}

/// Math ops that are one instruction, or a few integer ones, and exact.
bool hasInstruction(Operation *op, const TargetInfo &target) {
  if (isa<math::FloorOp, math::CeilOp, math::TruncOp, math::RoundEvenOp>(op))
    return target.hasRounding;
  return isa<math::FmaOp, math::AbsFOp, math::AbsIOp, math::CopySignOp,
             math::SqrtOp, math::CountLeadingZerosOp,
             math::CountTrailingZerosOp, math::CtPopOp, math::IsNaNOp,
             math::IsInfOp, math::IsFiniteOp, math::IsNormalOp>(op);
}

/// Conversions that are exact, or one instruction that rounds to nearest even
/// and keeps denormals. vcvtneps2bf16 flushes them, and LLVM selects it for a
/// truncation to bf16 where the CPU has it; a GPU's instructions keep them.
bool isNarrowConversionSafe(Operation *op, const TargetInfo &target) {
  Type from = getElementTypeOrSelf(op->getOperand(0)),
       to = getElementTypeOrSelf(op->getResult(0));
  if (target.gpu)
    return isa<arith::ExtFOp>(op)     ? to.isF32()
           : isa<arith::TruncFOp>(op) ? from.isF32()
                                      : false;
  if (isa<arith::ExtFOp>(op))
    return to.isF32() && (from.isBF16() || target.hasHalfConversions);
  if (isa<arith::TruncFOp>(op))
    return from.isF32() && to.isF16() && target.hasHalfConversions;
  return false;
}

/// True for an op that only moves bits of a narrow float about.
bool movesBits(Operation *op) {
  return isa<arith::ConstantOp, arith::BitcastOp, arith::SelectOp>(op) ||
         !isa<arith::ArithDialect>(op->getDialect());
}

bool isAllowed(Dialect *dialect, const TargetInfo &target) {
  if (isa_and_nonnull<BuiltinDialect, func::FuncDialect, arith::ArithDialect,
                      math::MathDialect, scf::SCFDialect,
                      cf::ControlFlowDialect, memref::MemRefDialect,
                      vector::VectorDialect, ub::UBDialect,
                      affine::AffineDialect, LLVM::LLVMDialect>(dialect))
    return true;
  return target.gpu
             ? isa_and_nonnull<gpu::GPUDialect, NVVM::NVVMDialect>(dialect)
             : isa_and_nonnull<x86vector::X86VectorDialect>(dialect);
}

LogicalResult verifyOp(Operation *op, const TargetInfo &target) {
  if (!isAllowed(op->getDialect(), target))
    return op->emitOpError("is of a dialect that kernel modules must not use");
  if (isa<math::MathDialect>(op->getDialect()) && !hasInstruction(op, target))
    return op->emitOpError("has no instruction on ")
           << target.cpu << " and was not expanded";
  if (auto flags = op->getAttrOfType<arith::FastMathFlagsAttr>("fastmath");
      flags && flags.getValue() != arith::FastMathFlags::none)
    return op->emitOpError("has fast-math flags");
  bool isNarrow = llvm::any_of(op->getOperandTypes(), isNarrowFloat) ||
                  llvm::any_of(op->getResultTypes(), isNarrowFloat);
  if (!isNarrow)
    return success();
  bool computes = isa<math::MathDialect>(op->getDialect()) ||
                  isa<vector::FMAOp, vector::ReductionOp>(op) ||
                  (!movesBits(op) && !isNarrowConversionSafe(op, target));
  if (computes)
    return op->emitOpError("computes in a narrow float: compute in f32 and "
                           "convert with integer ops");
  return success();
}

} // namespace

LogicalResult verifyKernelModule(ModuleOp module, const TargetInfo &target) {
  WalkResult result = module.walk([&](Operation *op) {
    return failed(verifyOp(op, target)) ? WalkResult::interrupt()
                                        : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

} // namespace tessera::lowering
