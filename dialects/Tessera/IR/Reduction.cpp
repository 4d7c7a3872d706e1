// Reductions and products: shapes, tangents and transposes.
#include "dialects/Tessera/IR/Expr.h"

using namespace mlir;

namespace tessera::ir {

//===-- reduce --===//

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> loc,
                                         ValueRange operands,
                                         DictionaryAttr attributes,
                                         OpaqueProperties, RegionRange,
                                         SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(operands[0].getType());
  auto dims = attributes.getAs<DenseI64ArrayAttr>("dims").asArrayRef();
  auto reduction = attributes.getAs<ReductionAttr>("reduction").getValue();
  SmallVector<int64_t> shape;
  for (auto [i, dim] : llvm::enumerate(dims))
    if (dim < 0 || dim >= type.getRank() || (i > 0 && dim <= dims[i - 1]))
      return emitOptionalError(loc, "[", stringifyReduction(reduction),
                               "] dimensions must increase inside ",
                               typeText(type));
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (!llvm::is_contained(dims, i))
      shape.push_back(type.getDimSize(i));
  bool reducesNothing = llvm::any_of(
      dims, [&](int64_t dim) { return type.getDimSize(dim) == 0; });
  bool positional = reduction == Reduction::argmax;
  bool hasIdentity =
      reduction == Reduction::sum || reduction == Reduction::prod;
  if (reducesNothing && !hasIdentity && !llvm::is_contained(shape, 0))
    return emitOptionalError(
        loc, "[", stringifyReduction(reduction),
        "] has no value over no elements: ", typeText(type));
  Type element =
      positional ? IntegerType::get(context, 64) : type.getElementType();
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}

OpFoldResult ReduceOp::fold(FoldAdaptor) {
  return getDims().empty() && getReduction() != Reduction::argmax ? getX()
                                                                  : Value();
}

/// The tangent of a product over `dims`: products of halves, so that no element
/// is divided by.
static Expr productTangent(Expr x, Expr t, ArrayRef<int64_t> dims) {
  // Brings the reduced dimensions to the front as one, of a power-of-two size
  // padded with ones.
  auto type = x.type();
  SmallVector<int64_t> permutation(dims), kept;
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= type.getDimSize(dim);
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (!llvm::is_contained(dims, i)) {
      permutation.push_back(i);
      kept.push_back(type.getDimSize(i));
    }
  auto arrange = [&](Expr v, double fill) {
    SmallVector<int64_t> shape;
    for (int64_t dim : permutation)
      shape.push_back(type.getDimSize(dim));
    Expr moved = v.with(TransposeOp::create(
        v.at(), v.location(), type.clone(shape), v.value(), permutation));
    SmallVector<int64_t> flat{count}, low(kept.size() + 1, 0),
        high(kept.size() + 1, 0);
    llvm::append_range(flat, kept);
    moved = reshape(moved, flat);
    high[0] = llvm::PowerOf2Ceil(count) - count;
    flat[0] += high[0];
    Value value =
        detail::full(v.at(), v.location(),
                     RankedTensorType::get({}, type.getElementType()), fill);
    return v.with(PadOp::create(v.at(), v.location(), type.clone(flat),
                                moved.value(), value, low, high, low));
  };
  Expr p = arrange(x, 1.0), dp = arrange(t, 0.0);
  auto half = [&](Expr v, bool second) {
    SmallVector<int64_t> shape(v.type().getShape()), starts(shape.size(), 0),
        strides(shape.size(), 1);
    shape[0] /= 2;
    starts[0] = second ? shape[0] : 0;
    return v.with(SliceOp::create(v.at(), v.location(), v.type().clone(shape),
                                  v.value(), starts, strides));
  };
  while (p.type().getDimSize(0) > 1) {
    Expr a = half(p, false), b = half(p, true), da = half(dp, false),
         db = half(dp, true);
    dp = da * b + db * a;
    p = a * b;
  }
  return reshape(dp, kept);
}

Value ReduceOp::jvp(OpBuilder &builder, ValueRange tangents) {
  if (!tangents[0] || getReduction() == Reduction::argmax ||
      !isa<FloatType>(tensorType(getX()).getElementType()))
    return {};
  Expr x(builder, getLoc(), getX()), y(builder, getLoc(), getY()),
      t(builder, getLoc(), tangents[0]);
  switch (getReduction()) {
  case Reduction::sum:
    return reduce(Reduction::sum, t, getDims()).value();
  case Reduction::prod:
    if (x.type().getNumElements() == 0)
      return {};
    return productTangent(x, t, getDims()).value();
  default: {
    // Elements that share the extremum share its tangent.
    Expr chosen = x == expand(y, x.type(), getDims());
    Expr count = reduce(Reduction::sum,
                        convert(chosen, x.type().getElementType()), getDims());
    return (reduce(Reduction::sum, select(chosen, t, t.zero()), getDims()) /
            count)
        .value();
  }
  }
}

SmallVector<Value> ReduceOp::transpose(OpBuilder &builder, Value ct,
                                       ArrayRef<bool>) {
  assert(getReduction() == Reduction::sum && "only a sum is linear");
  return {expand(Expr(builder, getLoc(), ct), tensorType(getX()), getDims())
              .value()};
}

//===-- dot_general --===//

static SmallVector<int64_t> freeDims(int64_t rank, ArrayRef<int64_t> batch,
                                     ArrayRef<int64_t> contract) {
  SmallVector<int64_t> dims;
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(batch, i) && !llvm::is_contained(contract, i))
      dims.push_back(i);
  return dims;
}

LogicalResult DotGeneralOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> loc,
                                             ValueRange operands,
                                             DictionaryAttr attributes,
                                             OpaqueProperties, RegionRange,
                                             SmallVectorImpl<Type> &types) {
  auto a = cast<RankedTensorType>(operands[0].getType()),
       b = cast<RankedTensorType>(operands[1].getType());
  auto dims = [&](StringRef name) {
    return attributes.getAs<DenseI64ArrayAttr>(name).asArrayRef();
  };
  auto aBatch = dims("a_batch"), bBatch = dims("b_batch"),
       aContract = dims("a_contract"), bContract = dims("b_contract");
  auto fail = [&](StringRef what) {
    return emitOptionalError(loc, "[dot_general] ", what, ": ", typeText(a),
                             " and ", typeText(b));
  };
  auto inside = [](RankedTensorType type, ArrayRef<int64_t> batch,
                   ArrayRef<int64_t> contract) {
    SmallVector<bool> seen(type.getRank());
    for (int64_t dim : llvm::concat<const int64_t>(batch, contract)) {
      if (dim < 0 || dim >= type.getRank() || seen[dim])
        return false;
      seen[dim] = true;
    }
    return true;
  };
  if (aBatch.size() != bBatch.size() || aContract.size() != bContract.size() ||
      !inside(a, aBatch, aContract) || !inside(b, bBatch, bContract))
    return fail("batch and contracted dimensions do not pair up");
  if (a.getElementType() != b.getElementType())
    return fail("element types differ");
  SmallVector<int64_t> shape;
  for (auto [i, j] : llvm::zip(aBatch, bBatch)) {
    if (a.getDimSize(i) != b.getDimSize(j))
      return fail("batch dimensions differ");
    shape.push_back(a.getDimSize(i));
  }
  for (auto [i, j] : llvm::zip(aContract, bContract))
    if (a.getDimSize(i) != b.getDimSize(j))
      return fail("contracted dimensions differ");
  for (int64_t i : freeDims(a.getRank(), aBatch, aContract))
    shape.push_back(a.getDimSize(i));
  for (int64_t i : freeDims(b.getRank(), bBatch, bContract))
    shape.push_back(b.getDimSize(i));
  types.push_back(RankedTensorType::get(shape, a.getElementType()));
  return success();
}

Value DotGeneralOp::jvp(OpBuilder &builder, ValueRange tangents) {
  if (!isa<FloatType>(tensorType(getA()).getElementType()))
    return {};
  auto product = [&](Value a, Value b) -> Value {
    return DotGeneralOp::create(builder, getLoc(), getType(), a, b, getABatch(),
                                getBBatch(), getAContract(), getBContract());
  };
  Value left = tangents[0] ? product(tangents[0], getB()) : Value();
  Value right = tangents[1] ? product(getA(), tangents[1]) : Value();
  return detail::addTangents(builder, getLoc(), left, right);
}

/// The cotangent of one factor: the product of the result's cotangent with the
/// other factor over that factor's free dimensions, its dimensions then put
/// back in the factor's order. The operands stand in the order that needs no
/// such step for a matrix product.
static Value
transposeFactor(OpBuilder &builder, Location loc, Value ct,
                RankedTensorType factor, Value other, ArrayRef<int64_t> batch,
                ArrayRef<int64_t> contract, ArrayRef<int64_t> otherBatch,
                ArrayRef<int64_t> otherContract, bool factorIsFirst) {
  auto mine = freeDims(factor.getRank(), batch, contract);
  auto theirs =
      freeDims(tensorType(other).getRank(), otherBatch, otherContract);
  int64_t nBatch = batch.size();
  auto range = [](int64_t first, int64_t count) {
    return llvm::to_vector(llvm::seq<int64_t>(first, first + count));
  };
  auto ctBatch = range(0, nBatch);
  auto ctTheirs =
      range(nBatch + (factorIsFirst ? mine.size() : 0), theirs.size());
  // The contracted dimensions come out in the order of the other factor's
  // dimensions.
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  for (auto [m, o] : llvm::zip(contract, otherContract))
    pairs.push_back({o, m});
  llvm::sort(pairs);
  SmallVector<int64_t> contracted =
      llvm::map_to_vector(pairs, [](auto pair) { return pair.second; });
  SmallVector<int64_t> order(batch);
  llvm::append_range(order, factorIsFirst ? mine : contracted);
  llvm::append_range(order, factorIsFirst ? contracted : mine);
  SmallVector<int64_t> shape = llvm::map_to_vector(
      order, [&](int64_t dim) { return factor.getDimSize(dim); });
  Value product =
      factorIsFirst
          ? DotGeneralOp::create(builder, loc, factor.clone(shape), ct, other,
                                 ctBatch, otherBatch, ctTheirs, theirs)
          : DotGeneralOp::create(builder, loc, factor.clone(shape), other, ct,
                                 otherBatch, ctBatch, theirs, ctTheirs);
  SmallVector<int64_t> permutation(order.size());
  for (auto [i, dim] : llvm::enumerate(order))
    permutation[dim] = i;
  if (llvm::is_sorted(permutation))
    return product;
  return TransposeOp::create(builder, loc, factor, product, permutation);
}

SmallVector<Value> DotGeneralOp::transpose(OpBuilder &builder, Value ct,
                                           ArrayRef<bool> linear) {
  SmallVector<Value> result(2);
  if (linear[0])
    result[0] = transposeFactor(builder, getLoc(), ct, tensorType(getA()),
                                getB(), getABatch(), getAContract(),
                                getBBatch(), getBContract(), true);
  if (linear[1])
    result[1] = transposeFactor(builder, getLoc(), ct, tensorType(getB()),
                                getA(), getBBatch(), getBContract(),
                                getABatch(), getAContract(), false);
  return result;
}

} // namespace tessera::ir
