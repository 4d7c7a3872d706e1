// The analysis of gemm kernels.
#include "lowering/Kernels/ProductKernel.h"
#include "dialects/Tessera/IR/NarrowFloats.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering {

/// The value that ops which keep every element's place in memory begin with.
static Value withoutViews(Value value) {
  while (isa_and_nonnull<ReshapeOp, IdentityOp, StopGradientOp>(
      value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

int64_t inputOf(Value value) {
  auto input = dyn_cast<BlockArgument>(withoutViews(value));
  return input ? int64_t(input.getArgNumber()) : -1;
}

Value narrowSource(Value operand) {
  auto convert = withoutViews(operand).getDefiningOp<ConvertOp>();
  if (!convert || !isNarrowFloat(tensorType(convert.getX()).getElementType()))
    return {};
  return convert.getX();
}

FailureOr<ProductKernel> ProductKernel::of(KernelOp kernel) {
  auto products = kernel.getBody().front().getOps<DotGeneralOp>();
  if (!llvm::hasSingleElement(products))
    return kernel.emitOpError("a gemm kernel holds one product");
  ProductKernel result;
  result.kernel = kernel;
  result.product = *products.begin();
  result.a = productDims(result.product, 0);
  result.b = productDims(result.product, 1);
  if (!result.a.contractFirst || !result.b.contractFirst)
    return result.product.emitError(
        "a product's dimensions are grouped before it becomes a kernel");
  GemmShape &shape = result.shape;
  shape.batch = result.a.batchSize;
  shape.m = result.a.freeSize;
  shape.n = result.b.freeSize;
  shape.k = result.a.contractSize;
  shape.transA = *result.a.contractFirst;
  shape.transB = !*result.b.contractFirst;
  shape.element = result.product.getType().getElementType();
  return result;
}

Value ProductKernel::operand(unsigned number) const {
  return product->getOperand(number);
}

Value ProductKernel::result() const { return product->getResult(0); }

ValueRange ProductKernel::yielded() const {
  KernelOp op = kernel;
  return cast<YieldOp>(op.getBody().front().getTerminator()).getValues();
}

/// The index of three coordinates, each of which stands for a group of
/// dimensions: `nBatch`, `nRows`, and the rest.
static FailureOr<SmallVector<LaneIndex>>
delinearizeGroups(LaneMath &lane, ArrayRef<int64_t> sizes, size_t nBatch,
                  size_t nRows, LaneIndex batch, LaneIndex row,
                  LaneIndex column, int64_t lanes) {
  auto batchPart = lane.delinearize(batch, sizes.take_front(nBatch), lanes);
  auto rowPart = lane.delinearize(row, sizes.slice(nBatch, nRows), lanes);
  auto columnPart =
      lane.delinearize(column, sizes.drop_front(nBatch + nRows), lanes);
  if (failed(batchPart) || failed(rowPart) || failed(columnPart))
    return failure();
  SmallVector<LaneIndex> index(*batchPart);
  llvm::append_range(index, *rowPart);
  llvm::append_range(index, *columnPart);
  return index;
}

FailureOr<SmallVector<LaneIndex>>
ProductKernel::operandIndex(LaneMath &lane, unsigned operand, LaneIndex batch,
                            LaneIndex row, LaneIndex column,
                            int64_t lanes) const {
  const ProductDims &dims = operand == 0 ? a : b;
  auto sizes = tensorType(this->operand(operand)).getShape();
  size_t rows = *dims.contractFirst ? dims.contract.size() : dims.free.size();
  return delinearizeGroups(lane, sizes, dims.batch.size(), rows, batch, row,
                           column, lanes);
}

FailureOr<SmallVector<LaneIndex>>
ProductKernel::resultIndex(LaneMath &lane, LaneIndex batch, LaneIndex row,
                           LaneIndex column, int64_t lanes) const {
  return delinearizeGroups(lane, tensorType(result()).getShape(),
                           a.batch.size(), a.free.size(), batch, row, column,
                           lanes);
}

} // namespace tessera::lowering
