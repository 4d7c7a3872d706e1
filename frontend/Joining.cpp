// Functions that join tensors, cut them apart, and pad them.
#include "frontend/Formula.h"
#include "frontend/Operands.h"
#include "frontend/Shapes.h"
#include "tessera/Manipulation.h"

using namespace mlir;

namespace tessera {
using namespace detail;

namespace {
/// Tensors in one dtype.
class Joining {
public:
  Joining(const char *name, std::span<const Tensor> tensors,
          std::source_location place)
      : r(name, place, pointers(tensors)), tensors(tensors) {
    if (tensors.empty())
      r.fail<ValueError>("there are no tensors to join");
  }

  /// Fills `parts` in.
  void convert() {
    DType dtype = tensors[0].dtype();
    for (const Tensor &tensor : tensors) {
      if (!isSupported(tensor.dtype()))
        r.fail<TypeError>("no op computes with this dtype: " +
                          typeText(tensor));
      dtype = result_type(dtype, tensor.dtype());
    }
    for (const Tensor &tensor : tensors)
      parts.push_back(r.convert(r.expr(r.value(tensor)), dtype));
  }

  [[noreturn]] void fail(const std::string &what) {
    std::string types;
    for (const Tensor &tensor : tensors)
      types += (types.empty() ? "" : ", ") + typeText(tensor);
    r.fail<ShapeError>(what + ": " + types);
  }

  Recording r;
  std::span<const Tensor> tensors;
  SmallVector<Expr> parts;

private:
  static SmallVector<const Tensor *> pointers(std::span<const Tensor> tensors) {
    return llvm::map_to_vector(tensors, [](const Tensor &t) { return &t; });
  }
};
} // namespace

Tensor concat(std::span<const Tensor> tensors, int64_t axis,
              std::source_location place) {
  Joining join("concat", tensors, place);
  if (Tensor known = join.r.recall(tensors, {axis}); known.defined())
    return known;
  join.convert();
  const Shape &first = tensors[0].shape();
  int64_t dim = checkAxis(join.r, axis, int64_t(first.size()));
  for (const Tensor &tensor : tensors) {
    const Shape &shape = tensor.shape();
    if (shape.size() != first.size())
      join.fail("the tensors differ in the number of dimensions");
    for (size_t i = 0; i < shape.size(); ++i)
      if (int64_t(i) != dim && shape[i] != first[i])
        join.fail("the tensors differ in another dimension than the one they "
                  "are joined along");
  }
  return join.r.finish(detail::concat(join.parts, dim));
}

Tensor stack(std::span<const Tensor> tensors, int64_t axis,
             std::source_location place) {
  Joining join("stack", tensors, place);
  if (Tensor known = join.r.recall(tensors, {axis}); known.defined())
    return known;
  join.convert();
  const Shape &first = tensors[0].shape();
  int64_t dim = checkAxis(join.r, axis, int64_t(first.size()) + 1);
  for (const Tensor &tensor : tensors)
    if (tensor.shape() != first)
      join.fail("the tensors differ in shape");
  SmallVector<int64_t> shape(first.begin(), first.end());
  shape.insert(shape.begin() + dim, 1);
  for (Expr &part : join.parts)
    part = ir::reshape(part, shape);
  return join.r.finish(detail::concat(join.parts, dim));
}

Tensor concat(std::initializer_list<Tensor> tensors, int64_t axis,
              std::source_location place) {
  return concat(std::span(tensors.begin(), tensors.size()), axis, place);
}
Tensor stack(std::initializer_list<Tensor> tensors, int64_t axis,
             std::source_location place) {
  return stack(std::span(tensors.begin(), tensors.size()), axis, place);
}

// Parts

/// Parts of an axis between bounds; a part without the axis if `drop`.
static std::vector<Tensor> cutAt(Recording &r, const Operand &x, int64_t dim,
                                 ArrayRef<int64_t> bounds, bool drop) {
  Expr a = r.expr(x);
  SmallVector<Value> parts;
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    Expr part = detail::slice(a, dim, bounds[i], bounds[i + 1] - bounds[i]);
    SmallVector<int64_t> shape(part.type().getShape());
    if (drop) {
      shape.erase(shape.begin() + dim);
      part = ir::reshape(part, shape);
    }
    parts.push_back(part.value());
  }
  return r.finish(ValueRange(parts));
}

std::vector<Tensor> split(const Operand &x, int64_t parts, int64_t axis) {
  Recording r("split", x);
  int64_t dim = checkAxis(r, axis, int64_t(shapeOf(x).size()));
  int64_t size = shapeOf(x)[size_t(dim)];
  if (parts < 1 || size % parts != 0)
    r.fail<ShapeError>("the axis does not fall into " + std::to_string(parts) +
                       " equal parts: " + typeText(x));
  SmallVector<int64_t> bounds;
  for (int64_t i = 0; i <= parts; ++i)
    bounds.push_back(size / parts * i);
  return cutAt(r, x, dim, bounds, false);
}

std::vector<Tensor> split(const Operand &x, const std::vector<int64_t> &at,
                          int64_t axis) {
  Recording r("split", x);
  int64_t dim = checkAxis(r, axis, int64_t(shapeOf(x).size()));
  int64_t size = shapeOf(x)[size_t(dim)];
  SmallVector<int64_t> bounds{0};
  for (int64_t position : at) {
    if (position < bounds.back() || position > size)
      r.fail<IndexError>("the positions do not increase inside the axis: " +
                         typeText(x));
    bounds.push_back(position);
  }
  bounds.push_back(size);
  return cutAt(r, x, dim, bounds, false);
}

std::vector<Tensor> unstack(const Operand &x, int64_t axis) {
  Recording r("unstack", x);
  int64_t dim = checkAxis(r, axis, int64_t(shapeOf(x).size()));
  int64_t size = shapeOf(x)[size_t(dim)];
  return cutAt(r, x, dim, llvm::to_vector(llvm::seq<int64_t>(0, size + 1)),
               true);
}

// Borders and diagonals

Tensor pad(const Operand &x,
           const std::vector<std::pair<int64_t, int64_t>> &widths,
           const Operand &value) {
  Recording r("pad", x, value);
  Expr a = r.expr(x), fill = r.expr(value, dtypeFor(x));
  if (int64_t(widths.size()) != a.type().getRank())
    r.fail<ShapeError>("there must be two widths for each dimension: " +
                       typeText(x));
  if (fill.type().getRank() != 0)
    r.fail<ShapeError>("the value is not a single one: " + typeText(value));
  SmallVector<int64_t> shape(a.type().getShape()), low, high;
  for (auto [dim, width] : llvm::zip(shape, widths)) {
    if (width.first < 0 || width.second < 0)
      r.fail<ValueError>("a width is negative");
    low.push_back(width.first);
    high.push_back(width.second);
    if (__builtin_add_overflow(dim, width.first, &dim) ||
        __builtin_add_overflow(dim, width.second, &dim))
      r.fail<ShapeError>("the result would be too large: " + typeText(x));
  }
  SmallVector<int64_t> none(shape.size(), 0);
  return r.finish(ir::PadOp::create(r.builder(), r.location(),
                                    a.type().clone(shape), a.value(),
                                    fill.value(), low, high, none));
}

Tensor diagonal(const Operand &x, int64_t k) {
  Recording r("diagonal", x);
  Expr a = r.expr(x);
  SmallVector<int64_t> shape(a.type().getShape());
  if (shape.size() < 2)
    r.fail<ShapeError>("a diagonal needs two dimensions: " + typeText(x));
  int64_t columns = shape.pop_back_val(), rows = shape.pop_back_val();
  int64_t size = std::min(rows + std::min<int64_t>(k, 0),
                          columns - std::max<int64_t>(k, 0));
  size = std::max<int64_t>(size, 0);
  // In row-major order its elements are a row and a column apart.
  SmallVector<int64_t> strides(shape.size(), 1), starts(shape.size(), 0);
  shape.push_back(rows * columns);
  Expr flat = ir::reshape(a, shape);
  shape.back() = size;
  strides.push_back(columns + 1);
  starts.push_back(size == 0 ? 0 : k >= 0 ? k : -k * columns);
  return r.finish(detail::slice(flat, starts, shape, strides));
}

} // namespace tessera
