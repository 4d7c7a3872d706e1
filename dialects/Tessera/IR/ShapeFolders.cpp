// Folds and canonical forms of the ops that move elements.
#include "dialects/Tessera/IR/Symbols.h"
#include "dialects/Tessera/IR/Tessera.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace tessera::ir {

OpFoldResult IdentityOp::fold(FoldAdaptor) { return getX(); }
OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

OpFoldResult ExtentOp::fold(FoldAdaptor) {
  auto of = cast<RankedTensorType>(getOf());
  if (!of.hasStaticShape() || isSymbolic(of))
    return {};
  APInt number(64, of.getNumElements());
  Type element = tensorType(getY()).getElementType();
  auto real = dyn_cast<FloatType>(element);
  if (!real)
    return IntegerAttr::get(
        element, number.sextOrTrunc(element.getIntOrFloatBitWidth()));
  APFloat rounded(real.getFloatSemantics());
  rounded.convertFromAPInt(number, /*IsSigned=*/true,
                           APFloat::rmNearestTiesToEven);
  return FloatAttr::get(real, rounded);
}

/// A view that changes nothing is its operand; a view of a constant is the
/// constant in another shape.
template <typename Adaptor>
static OpFoldResult foldView(Operation *op, Adaptor adaptor, bool trivial) {
  if (trivial)
    return op->getOperand(0);
  return adaptor.getX();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  return foldView(*this, adaptor, getX().getType() == getType());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  return foldView(*this, adaptor, getX().getType() == getType());
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  bool sorted = llvm::is_sorted(getPermutation());
  return foldView(*this, adaptor, sorted);
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  bool forward =
      llvm::all_of(getStrides(), [](int64_t stride) { return stride == 1; });
  return foldView(*this, adaptor, forward && getX().getType() == getType());
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  auto none = [](ArrayRef<int64_t> amounts) {
    return llvm::all_of(amounts, [](int64_t a) { return a == 0; });
  };
  return none(getLow()) && none(getHigh()) && none(getInterior()) ? getX()
                                                                  : Value();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? getInputs().front() : Value();
}

/// One view in place of two stands at both of their places.
static Location mergedLoc(PatternRewriter &rewriter, Operation *inner,
                          Operation *outer) {
  return rewriter.getFusedLoc({inner->getLoc(), outer->getLoc()});
}

namespace {
struct MergeBroadcasts : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<BroadcastOp>();
    if (!inner)
      return failure();
    SmallVector<int64_t> dims;
    for (int64_t dim : inner.getDims())
      dims.push_back(op.getDims()[dim]);
    Value merged = BroadcastOp::create(rewriter, mergedLoc(rewriter, inner, op),
                                       op.getType(), inner.getX(), dims);
    rewriter.replaceOp(op, merged);
    return success();
  }
};

struct MergeReshapes : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<ReshapeOp>();
    if (!inner)
      return failure();
    Value merged = ReshapeOp::create(rewriter, mergedLoc(rewriter, inner, op),
                                     op.getType(), inner.getX());
    rewriter.replaceOp(op, merged);
    return success();
  }
};

struct MergeTransposes : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<TransposeOp>();
    if (!inner)
      return failure();
    SmallVector<int64_t> permutation;
    for (int64_t dim : op.getPermutation())
      permutation.push_back(inner.getPermutation()[dim]);
    Value merged = TransposeOp::create(rewriter, mergedLoc(rewriter, inner, op),
                                       op.getType(), inner.getX(), permutation);
    rewriter.replaceOp(op, merged);
    return success();
  }
};
} // namespace

void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<MergeBroadcasts>(context);
}
void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<MergeReshapes>(context);
}
void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<MergeTransposes>(context);
}

} // namespace tessera::ir
