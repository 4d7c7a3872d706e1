// Products in the form that kernels take.
//
// Why: a kernel for one of four layouts is small and fast, a kernel for any
// dimension numbers is neither.
//   %t = transpose %x [1, 0];  dot_general %t, %y {contract 1, 0}   ->
//   dot_general %x, %y {contract 0, 0}
#include "dialects/Tessera/Transforms/SimplifyProducts.h"
#include "dialects/Tessera/IR/Expr.h"

using namespace mlir;

namespace tessera::ir {

ProductDims productDims(DotGeneralOp op, unsigned operand) {
  ProductDims dims;
  dims.batch = llvm::to_vector(operand == 0 ? op.getABatch() : op.getBBatch());
  dims.contract =
      llvm::to_vector(operand == 0 ? op.getAContract() : op.getBContract());
  auto type = tensorType(op->getOperand(operand));
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (!llvm::is_contained(dims.batch, i) &&
        !llvm::is_contained(dims.contract, i))
      dims.free.push_back(i);
  auto size = [&](ArrayRef<int64_t> group) {
    int64_t product = 1;
    for (int64_t dim : group)
      product *= type.getDimSize(dim);
    return product;
  };
  dims.batchSize = size(dims.batch);
  dims.freeSize = size(dims.free);
  dims.contractSize = size(dims.contract);
  auto inOrder = [&](ArrayRef<int64_t> second, ArrayRef<int64_t> third) {
    SmallVector<int64_t> all(dims.batch);
    llvm::append_range(all, second);
    llvm::append_range(all, third);
    return llvm::is_sorted(all);
  };
  if (inOrder(dims.free, dims.contract))
    dims.contractFirst = false;
  else if (inOrder(dims.contract, dims.free))
    dims.contractFirst = true;
  return dims;
}

/// The same product with operand `which` replaced, its dimensions renamed by
/// `rename`.
static DotGeneralOp withOperand(OpBuilder &builder, DotGeneralOp op,
                                unsigned which, Value operand,
                                llvm::function_ref<int64_t(int64_t)> rename) {
  auto renamed = [&](ArrayRef<int64_t> dims, unsigned side) {
    return llvm::map_to_vector(
        dims, [&](int64_t dim) { return side == which ? rename(dim) : dim; });
  };
  return DotGeneralOp::create(
      builder, op.getLoc(), op.getType(), which == 0 ? operand : op.getA(),
      which == 1 ? operand : op.getB(), renamed(op.getABatch(), 0),
      renamed(op.getBBatch(), 1), renamed(op.getAContract(), 0),
      renamed(op.getBContract(), 1));
}

/// Reads through a transpose of an operand, where that leaves the order of the
/// result's dimensions.
static DotGeneralOp foldTranspose(OpBuilder &builder, DotGeneralOp op,
                                  unsigned which) {
  auto transpose = op->getOperand(which).getDefiningOp<TransposeOp>();
  if (!transpose)
    return {};
  auto permutation = transpose.getPermutation();
  auto moved =
      llvm::map_to_vector(productDims(op, which).free,
                          [&](int64_t dim) { return permutation[dim]; });
  if (!llvm::is_sorted(moved))
    return {};
  return withOperand(builder, op, which, transpose.getX(),
                     [&](int64_t dim) { return permutation[dim]; });
}

/// Puts an operand whose dimensions are mixed into one of the two layouts.
static DotGeneralOp regularise(OpBuilder &builder, DotGeneralOp op,
                               unsigned which) {
  ProductDims dims = productDims(op, which);
  if (dims.contractFirst)
    return {};
  SmallVector<int64_t> permutation(dims.batch),
      position(tensorType(op->getOperand(which)).getRank());
  llvm::append_range(permutation, dims.free);
  llvm::append_range(permutation, dims.contract);
  for (auto [i, dim] : llvm::enumerate(permutation))
    position[dim] = i;
  auto type = tensorType(op->getOperand(which));
  auto shape = llvm::map_to_vector(
      permutation, [&](int64_t dim) { return type.getDimSize(dim); });
  Value moved = TransposeOp::create(builder, op.getLoc(), type.clone(shape),
                                    op->getOperand(which), permutation);
  return withOperand(builder, op, which, moved,
                     [&](int64_t dim) { return position[dim]; });
}

/// sum(a * b) over the contracted dimensions, for a right operand without free
/// dimensions.
static Value asSum(OpBuilder &builder, DotGeneralOp op) {
  ProductDims a = productDims(op, 0), b = productDims(op, 1);
  auto arrange = [&](Value x, const ProductDims &dims) {
    SmallVector<int64_t> permutation(dims.batch);
    llvm::append_range(permutation, dims.free);
    llvm::append_range(permutation, dims.contract);
    auto type = tensorType(x);
    auto shape = llvm::map_to_vector(
        permutation, [&](int64_t dim) { return type.getDimSize(dim); });
    if (llvm::is_sorted(permutation))
      return x;
    return Value(TransposeOp::create(builder, op.getLoc(), type.clone(shape), x,
                                     permutation));
  };
  Value left = arrange(op.getA(), a), right = arrange(op.getB(), b);
  int64_t nBatch = a.batch.size(), nFree = a.free.size(),
          nContract = a.contract.size();
  SmallVector<int64_t> dims;
  for (int64_t i = 0; i < nBatch; ++i)
    dims.push_back(i);
  for (int64_t i = 0; i < nContract; ++i)
    dims.push_back(nBatch + nFree + i);
  Value wide = nFree == 0
                   ? right
                   : Value(BroadcastOp::create(builder, op.getLoc(),
                                               left.getType(), right, dims));
  Expr product =
      Expr(builder, op.getLoc(), left) * Expr(builder, op.getLoc(), wide);
  return reduce(Reduction::sum, product, ArrayRef(dims).drop_front(nBatch))
      .value();
}

/// A product that is only wanted transposed, its columns before its rows, is
/// the product of the operands exchanged: each element is the same sum of the
/// same products. Gradients of weights are of this kind.
static DotGeneralOp exchangeOperands(OpBuilder &builder, DotGeneralOp op) {
  ProductDims a = productDims(op, 0), b = productDims(op, 1);
  int64_t nBatch = a.batch.size(), nRows = a.free.size(),
          rank = op.getType().getRank();
  // A vector on the right would be a product of another definition.
  if (a.free.empty() || b.free.empty() || op->use_empty())
    return {};
  SmallVector<int64_t> exchanged;
  auto append = [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i)
      exchanged.push_back(i);
  };
  append(0, nBatch);
  append(nBatch + nRows, rank);
  append(nBatch, nBatch + nRows);
  for (Operation *user : op->getUsers()) {
    auto transpose = dyn_cast<TransposeOp>(user);
    if (!transpose || transpose.getPermutation() != ArrayRef(exchanged))
      return {};
  }
  auto transposed = cast<TransposeOp>(*op->getUsers().begin());
  auto next = DotGeneralOp::create(
      builder, op.getLoc(), transposed.getY().getType(), op.getB(), op.getA(),
      op.getBBatch(), op.getABatch(), op.getBContract(), op.getAContract());
  for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
    user->getResult(0).replaceAllUsesWith(next.getResult());
    user->erase();
  }
  return next;
}

void simplifyProducts(func::FuncOp function) {
  SmallVector<DotGeneralOp> products;
  function.walk([&](DotGeneralOp op) { products.push_back(op); });
  for (DotGeneralOp &op : products) {
    OpBuilder builder(op);
    if (DotGeneralOp next = exchangeOperands(builder, op)) {
      op.erase();
      op = next;
    }
  }
  for (DotGeneralOp op : products) {
    OpBuilder builder(op);
    auto replace = [&](DotGeneralOp next) {
      if (!next)
        return false;
      op.getResult().replaceAllUsesWith(next.getResult());
      op.erase();
      op = next;
      builder.setInsertionPoint(op);
      return true;
    };
    for (unsigned which : {0u, 1u})
      while (replace(foldTranspose(builder, op, which)))
        ;
    bool isFloat = isa<FloatType>(op.getType().getElementType());
    if (isFloat && productDims(op, 1).free.empty()) {
      op.getResult().replaceAllUsesWith(asSum(builder, op));
      op.erase();
      continue;
    }
    for (unsigned which : {0u, 1u})
      replace(regularise(builder, op, which));
  }
}

} // namespace tessera::ir
