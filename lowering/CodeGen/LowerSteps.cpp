// The steps of lowering that CPU and GPU kernels share.
#include "lowering/CodeGen/LowerSteps.h"
#include "lowering/CodeGen/Formula.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;

namespace tessera::lowering {

namespace {

/// Ops of the memref and vector dialects that convert to LLVM without an
/// expansion first.
bool convertsDirectly(Operation *op) {
  if (isa<memref::LoadOp, memref::StoreOp, memref::ViewOp, memref::AllocaOp,
          memref::GetGlobalOp, memref::GlobalOp, memref::CastOp,
          memref::ReinterpretCastOp, memref::PrefetchOp, vector::LoadOp,
          vector::StoreOp, vector::MaskedLoadOp, vector::MaskedStoreOp,
          vector::ExtractOp, vector::InsertOp, vector::ReductionOp>(op))
    return true;
  if (isa<vector::FMAOp, vector::ShuffleOp, vector::BitCastOp>(op))
    return cast<VectorType>(op->getResult(0).getType()).getRank() == 1;
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
    return broadcast.getResultVectorType().getRank() == 1 &&
           !isa<VectorType>(broadcast.getSourceType());
  return false;
}

/// vector.fma is one rounding: upstream makes it llvm.fmuladd, which may be
/// two. On a target without FMA both it and math.fma are a product and a sum,
/// as the contract says, instead of a call for each lane.
template <typename Op>
struct FusedMultiplyAdd : public ConvertOpToLLVMPattern<Op> {
  FusedMultiplyAdd(const LLVMTypeConverter &converter, bool hasFMA)
      : ConvertOpToLLVMPattern<Op>(converter, /*benefit=*/10), hasFMA(hasFMA) {}

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ValueRange args = adaptor.getOperands();
    if (isa<LLVM::LLVMArrayType>(args[0].getType()))
      return rewriter.notifyMatchFailure(op, "a vector of higher rank");
    if (hasFMA) {
      rewriter.replaceOpWithNewOp<LLVM::FMAOp>(op, args[0].getType(), args);
      return success();
    }
    Value product =
        LLVM::FMulOp::create(rewriter, op.getLoc(), args[0], args[1]);
    rewriter.replaceOpWithNewOp<LLVM::FAddOp>(op, product, args[2]);
    return success();
  }

  bool hasFMA;
};

} // namespace

LogicalResult expandCompoundOps(ModuleOp module) {
  // Most kernels are written without them, and to build the patterns costs more
  // than all the rest of a small kernel's lowering.
  bool needed = false;
  module.walk([&](Operation *op) {
    StringRef dialect = op->getName().getDialectNamespace();
    needed |=
        dialect == "affine" ||
        ((dialect == "memref" || dialect == "vector") && !convertsDirectly(op));
  });
  if (!needed)
    return success();
  RewritePatternSet patterns(module.getContext());
  vector::populateVectorBitCastLoweringPatterns(patterns);
  vector::populateVectorBroadcastLoweringPatterns(patterns);
  vector::populateVectorMaskOpLoweringPatterns(patterns);
  vector::populateVectorShapeCastLoweringPatterns(patterns);
  vector::populateVectorInterleaveToShufflePatterns(patterns);
  vector::populateVectorTransposeLoweringPatterns(
      patterns, vector::VectorTransposeLowering::Shuffle1D);
  vector::populateVectorTransferLoweringPatterns(patterns,
                                                 /*maxTransferRank=*/1);
  vector::populateVectorMaskMaterializationPatterns(
      patterns, /*force32BitVectorIndices=*/true);
  vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
  vector::populateVectorStepLoweringPatterns(patterns);
  vector::populateVectorRankReducingFMAPattern(patterns);
  vector::populateVectorGatherLoweringPatterns(patterns);
  populateVectorToSCFConversionPatterns(patterns);
  memref::populateExpandStridedMetadataPatterns(patterns);
  populateAffineToStdConversionPatterns(patterns);
  return applyPatternsGreedily(module, std::move(patterns));
}

LogicalResult lowerControlFlow(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateSCFToControlFlowConversionPatterns(patterns);
  ConversionTarget target(*module.getContext());
  target.addIllegalOp<scf::ForallOp, scf::ForOp, scf::IfOp, scf::IndexSwitchOp,
                      scf::ParallelOp, scf::WhileOp, scf::ExecuteRegionOp>();
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(module, target, std::move(patterns));
}

void populateFusedMultiplyAddPatterns(const LLVMTypeConverter &converter,
                                      RewritePatternSet &patterns,
                                      bool hasFMA) {
  patterns.add<FusedMultiplyAdd<vector::FMAOp>, FusedMultiplyAdd<math::FmaOp>>(
      converter, hasFMA);
}

void markBufferArguments(FunctionOpInterface func) {
  Builder b(func.getContext());
  for (auto [index, type] : llvm::enumerate(func.getArgumentTypes())) {
    auto buffer = dyn_cast<MemRefType>(type);
    if (!buffer)
      continue;
    func.setArgAttr(index, LLVM::LLVMDialect::getNoUndefAttrName(),
                    b.getUnitAttr());
    int64_t bytes = llvm::divideCeil(buffer.getElementTypeBitWidth(), 8) *
                    buffer.getNumElements();
    if (bytes > 0 && buffer.getNumElements() < kUnknownElements)
      func.setArgAttr(index, LLVM::LLVMDialect::getDereferenceableAttrName(),
                      b.getI64IntegerAttr(bytes));
  }
}

void setTarget(ModuleOp module, const TargetInfo &target) {
  MLIRContext *context = module.getContext();
  module->setAttr(LLVM::LLVMDialect::getTargetTripleAttrName(),
                  StringAttr::get(context, target.triple));
  module->setAttr(
      LLVM::LLVMDialect::getDataLayoutAttrName(),
      StringAttr::get(context,
                      llvm::Triple(target.triple).computeDataLayout()));
}

} // namespace tessera::lowering
