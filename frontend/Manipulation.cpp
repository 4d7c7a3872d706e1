// Functions that rearrange elements.
#include "tessera/Manipulation.h"

#include "frontend/Formula.h"
#include "frontend/Operands.h"
#include "frontend/Shapes.h"

#include <limits>

using namespace mlir;

namespace tessera {
using namespace detail;

using Dims = SmallVector<int64_t>;

static Dims dimsOf(Expr x) { return Dims(x.type().getShape()); }

// Views of the dialect as formulas

Expr detail::slice(Expr x, ArrayRef<int64_t> starts, ArrayRef<int64_t> sizes,
                   ArrayRef<int64_t> strides) {
  return x.with(ir::SliceOp::create(x.at(), x.location(), x.type().clone(sizes),
                                    x.value(), starts, strides));
}

Expr detail::slice(Expr x, int64_t dim, int64_t start, int64_t size) {
  Dims starts(size_t(x.type().getRank()), 0), sizes = dimsOf(x);
  Dims strides(starts.size(), 1);
  starts[size_t(dim)] = start;
  sizes[size_t(dim)] = size;
  return slice(x, starts, sizes, strides);
}

Expr detail::concat(ArrayRef<Expr> parts, int64_t dim) {
  Expr first = parts.front();
  Dims shape = dimsOf(first);
  shape[size_t(dim)] = 0;
  SmallVector<Value> values;
  for (Expr part : parts) {
    shape[size_t(dim)] += part.type().getDimSize(dim);
    values.push_back(part.value());
  }
  return first.with(ir::ConcatOp::create(first.at(), first.location(),
                                         first.type().clone(shape), values,
                                         uint64_t(dim)));
}

// Other shapes

/// The shape with its -1 replaced by what the number of elements leaves.
static Shape inferShape(Recording &r, const Operand &x, Shape shape) {
  int64_t known = 1;
  int64_t *open = nullptr;
  auto wrong = [&](const std::string &what) {
    r.fail<ShapeError>(what + ": " + typeText(x) + " to " + shape.str());
  };
  for (int64_t &dim : shape) {
    if (dim == -1 && open)
      wrong("only one dimension can be left open");
    if (dim < -1)
      wrong("a dimension is negative");
    if (dim == -1)
      open = &dim;
    else if (__builtin_mul_overflow(known, dim, &known))
      wrong("the shape is too large");
  }
  int64_t elements = shapeOf(x).elements();
  if (open) {
    if (known == 0 || elements % known != 0)
      wrong("the open dimension does not come out even");
    *open = elements / known;
  } else if (known != elements) {
    wrong("the number of elements changes");
  }
  return shape;
}

Tensor reshape(const Operand &x, const Shape &shape) {
  Recording r("reshape", x);
  if (Tensor known = r.recall(toRef(shape)); known.defined())
    return known;
  Shape inferred = inferShape(r, x, shape);
  return r.finish(ir::reshape(r.expr(x), toRef(inferred)));
}

Tensor flatten(const Operand &x, int64_t first, int64_t last) {
  Recording r("flatten", x);
  if (Tensor known = r.recall(first, last); known.defined())
    return known;
  Expr a = r.expr(x);
  Dims shape = dimsOf(a), result;
  int64_t rank = int64_t(shape.size());
  if (rank == 0)
    return r.finish(ir::reshape(a, {1}));
  first = checkAxis(r, first, rank);
  last = checkAxis(r, last, rank);
  if (first > last)
    r.fail<IndexError>("the first axis comes after the last");
  for (int64_t i = 0; i < rank; ++i)
    if (i > first && i <= last)
      result.back() *= shape[size_t(i)];
    else
      result.push_back(shape[size_t(i)]);
  return r.finish(ir::reshape(a, result));
}

Tensor squeeze(const Operand &x, const Axes &axis) {
  Recording r("squeeze", x);
  SmallVector<int64_t, 8> parameters{axis.all()};
  parameters.append(axis.list().begin(), axis.list().end());
  if (Tensor known = r.recall(parameters); known.defined())
    return known;
  Expr a = r.expr(x);
  Dims shape = dimsOf(a), result;
  auto axes = checkAxes(r, axis, int64_t(shape.size()));
  for (auto [i, dim] : llvm::enumerate(shape)) {
    bool named = llvm::is_contained(axes, int64_t(i));
    if (named && dim != 1 && !axis.all())
      r.fail<ShapeError>("axis " + std::to_string(i) +
                         " is not of size 1: " + typeText(x));
    if (!named || dim != 1)
      result.push_back(dim);
  }
  return r.finish(ir::reshape(a, result));
}

Tensor expand_dims(const Operand &x, const Axes &axis) {
  Recording r("expand_dims", x);
  Expr a = r.expr(x);
  if (axis.all())
    r.fail<ValueError>("the new axes are not given");
  if (Tensor known = r.recall(toRef(axis.list())); known.defined())
    return known;
  Dims shape = dimsOf(a), result;
  int64_t rank = int64_t(shape.size() + axis.list().size());
  auto axes = checkAxes(r, axis, rank);
  for (int64_t i = 0, next = 0; i < rank; ++i)
    result.push_back(llvm::is_contained(axes, i) ? 1 : shape[size_t(next++)]);
  return r.finish(ir::reshape(a, result));
}

// Other orders of dimensions

static Tensor permuted(Recording &r, Expr a, ArrayRef<int64_t> permutation) {
  return r.finish(llvm::is_sorted(permutation) ? a : transpose(a, permutation));
}

Tensor permute_dims(const Operand &x, const Shape &axes) {
  Recording r("permute_dims", x);
  if (Tensor known = r.recall(toRef(axes)); known.defined())
    return known;
  int64_t rank = int64_t(shapeOf(x).size());
  Dims permutation;
  for (int64_t axis : axes)
    permutation.push_back(checkAxis(r, axis, rank));
  Dims sorted = permutation;
  llvm::sort(sorted);
  if (sorted != llvm::to_vector(llvm::seq<int64_t>(0, rank)))
    r.fail<ShapeError>("each axis must be named once, not as " + axes.str() +
                       ": " + typeText(x));
  return permuted(r, r.expr(x), permutation);
}

static Tensor swapped(Recording &r, const Operand &x, int64_t a, int64_t b) {
  int64_t rank = int64_t(shapeOf(x).size());
  Dims permutation = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(permutation[size_t(a)], permutation[size_t(b)]);
  return permuted(r, r.expr(x), permutation);
}

Tensor swapaxes(const Operand &x, int64_t a, int64_t b) {
  Recording r("swapaxes", x);
  if (Tensor known = r.recall(a, b); known.defined())
    return known;
  int64_t rank = int64_t(shapeOf(x).size());
  return swapped(r, x, checkAxis(r, a, rank), checkAxis(r, b, rank));
}

Tensor matrix_transpose(const Operand &x) {
  Recording r("matrix_transpose", x);
  if (Tensor known = r.recall(); known.defined())
    return known;
  int64_t rank = int64_t(shapeOf(x).size());
  if (rank < 2)
    r.fail<ShapeError>("a matrix needs two dimensions: " + typeText(x));
  return swapped(r, x, rank - 2, rank - 1);
}

Tensor Tensor::T(std::source_location place) const {
  Operand x(*this, place);
  Recording r("T", x);
  if (Tensor known = r.recall(); known.defined())
    return known;
  if (ndim() != 2)
    r.fail<ShapeError>("this is no matrix: " + typeText(x));
  return swapped(r, x, 0, 1);
}

Tensor moveaxis(const Operand &x, const Axes &source, const Axes &destination) {
  Recording r("moveaxis", x);
  int64_t rank = int64_t(shapeOf(x).size());
  if (source.all() || source.list().size() != destination.list().size())
    r.fail<ValueError>("the axes do not pair up");
  checkAxes(r, source, rank);
  checkAxes(r, destination, rank);
  Dims permutation(size_t(rank), -1);
  SmallVector<bool> moved(size_t(rank), false);
  for (auto [given, to] : llvm::zip(source.list(), destination.list())) {
    int64_t from = checkAxis(r, given, rank);
    permutation[size_t(checkAxis(r, to, rank))] = from;
    moved[size_t(from)] = true;
  }
  int64_t next = 0;
  for (int64_t &dim : permutation) {
    if (dim >= 0)
      continue;
    while (moved[size_t(next)])
      ++next;
    dim = next++;
  }
  return permuted(r, r.expr(x), permutation);
}

// Other orders of elements

Tensor flip(const Operand &x, const Axes &axis) {
  Recording r("flip", x);
  Expr a = r.expr(x);
  Dims shape = dimsOf(a), starts(shape.size(), 0), strides(shape.size(), 1);
  for (int64_t dim : checkAxes(r, axis, int64_t(shape.size()))) {
    starts[size_t(dim)] = std::max<int64_t>(shape[size_t(dim)] - 1, 0);
    strides[size_t(dim)] = -1;
  }
  return r.finish(detail::slice(a, starts, shape, strides));
}

static Expr rolled(Expr x, int64_t shift, int64_t dim) {
  int64_t size = x.type().getDimSize(dim);
  if (size == 0)
    return x;
  shift = ((shift % size) + size) % size;
  if (shift == 0)
    return x;
  return detail::concat({detail::slice(x, dim, size - shift, shift),
                         detail::slice(x, dim, 0, size - shift)},
                        dim);
}

Tensor roll(const Operand &x, int64_t shift, std::optional<int64_t> axis) {
  Recording r("roll", x);
  Expr a = r.expr(x);
  if (axis)
    return r.finish(rolled(a, shift, checkAxis(r, *axis, a.type().getRank())));
  Expr flat = ir::reshape(a, {a.type().getNumElements()});
  return r.finish(ir::reshape(rolled(flat, shift, 0), a.type().getShape()));
}

/// The product of two sizes, or the largest number if that is less; a tensor of
/// that size is refused when it is recorded.
static int64_t multiplied(int64_t size, int64_t count) {
  int64_t product;
  return __builtin_mul_overflow(size, count, &product)
             ? std::numeric_limits<int64_t>::max()
             : product;
}

Tensor repeat(const Operand &x, int64_t count, std::optional<int64_t> axis) {
  Recording r("repeat", x);
  if (count < 0)
    r.fail<ValueError>("the count is negative");
  Expr a = r.expr(x);
  if (!axis)
    a = ir::reshape(a, {a.type().getNumElements()});
  int64_t dim = axis ? checkAxis(r, *axis, a.type().getRank()) : 0;
  Dims shape = dimsOf(a), longer = shape;
  longer.insert(longer.begin() + dim + 1, count);
  Expr repeated = ir::expand(a, a.type().clone(longer), dim + 1);
  shape[size_t(dim)] = multiplied(shape[size_t(dim)], count);
  return r.finish(ir::reshape(repeated, shape));
}

Tensor tile(const Operand &x, const Shape &repetitions) {
  Recording r("tile", x);
  Expr a = r.expr(x);
  Dims shape = dimsOf(a), counts(repetitions.begin(), repetitions.end());
  while (shape.size() < counts.size())
    shape.insert(shape.begin(), 1);
  while (counts.size() < shape.size())
    counts.insert(counts.begin(), 1);
  Dims longer, added, result;
  for (auto [dim, count] : llvm::zip(shape, counts)) {
    if (count < 0)
      r.fail<ValueError>("a count is negative");
    added.push_back(int64_t(longer.size()));
    longer.push_back(count);
    longer.push_back(dim);
    result.push_back(multiplied(count, dim));
  }
  Expr repeated =
      ir::expand(ir::reshape(a, shape), a.type().clone(longer), added);
  return r.finish(ir::reshape(repeated, result));
}

Tensor broadcast_to(const Operand &x, const Shape &shape) {
  Recording r("broadcast_to", x);
  if (Tensor known = r.recall(toRef(shape)); known.defined())
    return known;
  Shape from = shapeOf(x);
  bool fits = from.size() <= shape.size();
  for (size_t i = 1; fits && i <= from.size(); ++i) {
    int64_t dim = from[from.size() - i];
    fits = dim == 1 || dim == shape[shape.size() - i];
  }
  if (!fits || !runtime::byteSize(shape, dtypeFor(x)))
    r.fail<ShapeError>("the tensor does not broadcast to " + shape.str() +
                       ": " + typeText(x));
  return r.finish(r.broadcast(r.expr(x), shape));
}

// History

static Tensor cutOff(const char *name, const Operand &x) {
  Recording r(name, x);
  if (Tensor known = r.recall(); known.defined())
    return known;
  return r.finish(fixed(r.expr(x)));
}

Tensor stop_gradient(const Operand &x) { return cutOff("stop_gradient", x); }
Tensor detach(const Operand &x) { return cutOff("detach", x); }

} // namespace tessera
