// Products of matrices and tensors, as the dialect's one contraction.
#include "tessera/Product.h"

#include "frontend/Formula.h"
#include "frontend/Operands.h"
#include "frontend/Products.h"

using namespace mlir;

namespace tessera {
using namespace detail;

using Dims = SmallVector<int64_t>;

static Dims range(int64_t first, int64_t last) {
  return llvm::to_vector(llvm::seq<int64_t>(first, last));
}

Expr detail::contract(Recording &r, Expr a, Expr b, ArrayRef<int64_t> aBatch,
                      ArrayRef<int64_t> bBatch, ArrayRef<int64_t> aContract,
                      ArrayRef<int64_t> bContract) {
  auto &builder = r.builder();
  auto dims = [&](const char *name, ArrayRef<int64_t> values) {
    return builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(values));
  };
  return a.with(r.infer<ir::DotGeneralOp>(
      {a.value(), b.value()},
      {dims("a_batch", aBatch), dims("a_contract", aContract),
       dims("b_batch", bBatch), dims("b_contract", bContract)}));
}

/// The operands of a product in one dtype, each in its own shape.
static std::pair<Expr, Expr> factors(Recording &r, const Operand &x,
                                     const Operand &y) {
  DType dtype = commonDType(r, {&x, &y});
  requireNumbers(r, dtype, {&x, &y});
  return {r.expr(x, dtype), r.expr(y, dtype)};
}

// matmul

/// The dimensions that matrices are repeated over.
static Shape batchOf(const Shape &shape) {
  return shape.size() <= 2 ? Shape() : Shape(shape.begin(), shape.end() - 2);
}

static Shape commonBatch(Recording &r, const Operand &x, const Operand &y) {
  Shape a = batchOf(shapeOf(x)), b = batchOf(shapeOf(y));
  if (a.size() < b.size())
    std::swap(a, b);
  for (size_t i = 1; i <= b.size(); ++i) {
    int64_t &dim = a[a.size() - i], other = b[b.size() - i];
    if (dim == 1)
      dim = other;
    else if (other != 1 && other != dim)
      r.fail<ShapeError>("the batch dimensions do not broadcast: " +
                         typesText({&x, &y}));
  }
  return a;
}

/// A matrix for each index of the batch.
static Expr overBatch(Recording &r, Expr x, const Shape &batch) {
  Shape shape = batch;
  for (int64_t dim : x.type().getShape().take_back(2))
    shape.push_back(dim);
  return r.broadcast(x, shape);
}

Tensor matmul(const Operand &x, const Operand &y) {
  Recording r("matmul", x, y);
  if (Tensor known = r.recall(); known.defined())
    return known;
  auto [a, b] = factors(r, x, y);
  int64_t aRank = a.type().getRank(), bRank = b.type().getRank();
  if (aRank == 0 || bRank == 0)
    r.fail<ShapeError>("an operand has no dimensions: " + typesText({&x, &y}));
  int64_t aContract = aRank - 1, bContract = std::max<int64_t>(bRank - 2, 0);
  if (a.type().getDimSize(aContract) != b.type().getDimSize(bContract))
    r.fail<ShapeError>("the inner dimensions differ: " + typesText({&x, &y}));
  // Without a batch on the right the rows on the left are all alike.
  if (bRank <= 2 || aRank == 1)
    return r.finish(contract(r, a, b, {}, {}, aContract, bContract));
  Shape batch = commonBatch(r, x, y);
  int64_t count = int64_t(batch.size());
  a = overBatch(r, a, batch);
  b = overBatch(r, b, batch);
  return r.finish(
      contract(r, a, b, range(0, count), range(0, count), count + 1, count));
}

// Other products

static Tensor contractAxes(Recording &r, const Operand &x, const Operand &y,
                           const Dims &xAxes, const Dims &yAxes) {
  Shape a = shapeOf(x), b = shapeOf(y);
  for (auto [i, j] : llvm::zip(xAxes, yAxes))
    if (a[size_t(i)] != b[size_t(j)])
      r.fail<ShapeError>("axes that are summed over differ in size: " +
                         typesText({&x, &y}));
  auto [p, q] = factors(r, x, y);
  return r.finish(contract(r, p, q, {}, {}, xAxes, yAxes));
}

Tensor tensordot(const Operand &x, const Operand &y, int64_t axes) {
  Recording r("tensordot", x, y);
  int64_t xRank = int64_t(shapeOf(x).size()),
          yRank = int64_t(shapeOf(y).size());
  if (axes < 0 || axes > xRank || axes > yRank)
    r.fail<ShapeError>("there are not " + std::to_string(axes) +
                       " axes to sum over: " + typesText({&x, &y}));
  return contractAxes(r, x, y, range(xRank - axes, xRank), range(0, axes));
}

Tensor tensordot(const Operand &x, const Operand &y, const Shape &x_axes,
                 const Shape &y_axes) {
  Recording r("tensordot", x, y);
  auto check = [&](const Shape &axes, const Operand &of) {
    Dims dims;
    for (int64_t axis : axes) {
      dims.push_back(checkAxis(r, axis, int64_t(shapeOf(of).size())));
      if (llvm::is_contained(ArrayRef(dims).drop_back(), dims.back()))
        r.fail<IndexError>("axis " + std::to_string(axis) + " is named twice");
    }
    return dims;
  };
  if (x_axes.size() != y_axes.size())
    r.fail<ShapeError>("the axes do not pair up");
  return contractAxes(r, x, y, check(x_axes, x), check(y_axes, y));
}

Tensor vecdot(const Operand &x, const Operand &y, int64_t axis) {
  Recording r("vecdot", x, y);
  if (Tensor known = r.recall(axis); known.defined())
    return known;
  DType dtype = commonDType(r, {&x, &y});
  requireNumbers(r, dtype, {&x, &y});
  auto both = together(r, {&x, &y}, dtype);
  int64_t rank = both[0].type().getRank();
  int64_t dim = checkAxis(r, axis, rank);
  auto sizeAlong = [&](const Operand &of) {
    Shape shape = shapeOf(of);
    int64_t own = dim - rank + int64_t(shape.size());
    return own < 0 ? 1 : shape[size_t(own)];
  };
  if (sizeAlong(x) != sizeAlong(y))
    r.fail<ShapeError>("the vectors differ in length: " + typesText({&x, &y}));
  Dims batch = range(0, rank);
  batch.erase(batch.begin() + dim);
  return r.finish(contract(r, both[0], both[1], batch, batch, dim, dim));
}

Tensor outer(const Operand &x, const Operand &y) {
  Recording r("outer", x, y);
  if (Tensor known = r.recall(); known.defined())
    return known;
  auto [a, b] = factors(r, x, y);
  if (a.type().getRank() != 1 || b.type().getRank() != 1)
    r.fail<ShapeError>("the operands must be vectors: " + typesText({&x, &y}));
  Shape shape{a.type().getDimSize(0), b.type().getDimSize(0)};
  RankedTensorType type = r.type(dtypeFor(a.value()), shape);
  return r.finish(ir::expand(a, type, 1) * r.broadcast(b, shape));
}

} // namespace tessera
