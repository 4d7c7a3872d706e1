// Tensors made from a shape and numbers.
#include "tessera/Creation.h"

#include "frontend/Devices.h"
#include "frontend/Elements.h"
#include "frontend/Formula.h"
#include "frontend/Operands.h"

#include <cmath>
#include <cstring>

using namespace mlir;

namespace tessera {
using namespace detail;

// Literals

void detail::throwRagged(std::source_location place) {
  throw ShapeError(errorPlace(place), "tensor",
                   "lists of one level differ in length");
}

Tensor detail::fromNested(const void *values, size_t count, const Shape &shape,
                          DType from, std::optional<DType> dtype,
                          std::source_location place) {
  DType to = dtype ? *dtype : from == f64 ? f32 : from;
  auto storage = runtime::Storage::allocate(*runtime::byteSize(shape, to));
  if (convertElements(values, from, storage.data(), to, count))
    return madeHere(std::move(storage), shape, to, "tensor", place);
  // To bools and 16-bit floats the conversion is that of astype.
  return fromNested(values, count, shape, from, from, place).astype(to, place);
}

// One value everywhere

/// The type of a tensor to be made; its dimensions are not negative.
static RankedTensorType checkedType(Recording &r, const Shape &shape,
                                    DType dtype) {
  if (!isSupported(dtype))
    r.fail<TypeError>("no op makes " + std::string(runtime::nameOf(dtype)));
  if (!runtime::byteSize(shape, dtype))
    r.fail<ShapeError>("a dimension is negative, or the tensor is too large: " +
                       typeText(dtype, shape));
  return r.type(dtype, shape);
}

static Tensor constant(const char *name, const Shape &shape, DType dtype,
                       double value, std::source_location place) {
  Recording r(name, place);
  SmallVector<int64_t, 8> parameters{int64_t(dtype)};
  parameters.append(shape.begin(), shape.end());
  if (Tensor known = r.recall(parameters); known.defined())
    return known;
  return r.finish(ir::detail::full(r.builder(), r.location(),
                                   checkedType(r, shape, dtype), value));
}

Tensor zeros(const Shape &shape, DType dtype, std::source_location place) {
  return constant("zeros", shape, dtype, 0, place);
}
Tensor ones(const Shape &shape, DType dtype, std::source_location place) {
  return constant("ones", shape, dtype, 1, place);
}

Tensor full(const Shape &shape, const Operand &value,
            std::optional<DType> dtype) {
  Recording r("full", value);
  DType to = dtype.value_or(dtypeFor(value));
  checkedType(r, shape, to);
  if (shapeOf(value).size() > shape.size())
    r.fail<ShapeError>("the value has more dimensions than " + shape.str() +
                       ": " + typeText(value));
  return r.finish(r.broadcast(r.expr(value, to), shape));
}

Tensor zeros_like(const Operand &x, std::optional<DType> dtype) {
  return constant("zeros_like", shapeOf(x), dtype.value_or(dtypeFor(x)), 0,
                  x.place());
}
Tensor ones_like(const Operand &x, std::optional<DType> dtype) {
  return constant("ones_like", shapeOf(x), dtype.value_or(dtypeFor(x)), 1,
                  x.place());
}
Tensor full_like(const Operand &x, const Operand &value,
                 std::optional<DType> dtype) {
  return full(shapeOf(x), value, dtype.value_or(dtypeFor(x)));
}

// Numbers at equal distances

static Expr positions(Recording &r, const Shape &shape, DType dtype,
                      int64_t dim) {
  return r.expr(
      ir::IotaOp::create(r.builder(), r.location(), r.type(dtype, shape), dim));
}

static const Scalar &number(Recording &r, const Operand &x) {
  if (!x.isScalar())
    r.fail<ValueError>("the size of the result must be known, so the bounds "
                       "must be numbers: " +
                       typeText(x));
  return x.scalar();
}

static int64_t countBetween(Recording &r, const Scalar &start,
                            const Scalar &stop, const Scalar &step) {
  if (step.real == 0)
    r.fail<ValueError>("the step is 0");
  double count = std::ceil((stop.real - start.real) / step.real);
  if (!(count < 0x1p53))
    r.fail<ValueError>("the bounds are not finite, or too far apart");
  return count > 0 ? int64_t(count) : 0;
}

Tensor arange(const Operand &start, const Operand &stop, const Operand &step,
              std::optional<DType> dtype) {
  Recording r("arange", start);
  DType to = dtype.value_or(commonDType(r, {&start, &stop, &step}));
  Shape shape{
      countBetween(r, number(r, start), number(r, stop), number(r, step))};
  checkedType(r, shape, to);
  requireNumbers(r, to, {});
  Expr distance = r.broadcast(r.expr(step, to), shape);
  Expr first = r.broadcast(r.expr(start, to), shape);
  return r.finish(first + positions(r, shape, to, 0) * distance);
}

Tensor arange(const Operand &stop, std::optional<DType> dtype) {
  Operand start = stop.isScalar() && runtime::isFloat(stop.scalar().dtype)
                      ? Operand(0.0, stop.place())
                      : Operand(0, stop.place());
  return arange(start, stop, 1, dtype);
}

Tensor linspace(const Operand &start, const Operand &stop, int64_t count,
                DType dtype, bool endpoint) {
  Recording r("linspace", start);
  if (count < 0)
    r.fail<ValueError>("the number of elements is negative");
  if (!runtime::isFloat(dtype))
    r.fail<TypeError>("the elements are floats, not " +
                      std::string(runtime::nameOf(dtype)));
  Shape shape{count};
  double first = number(r, start).real, last = number(r, stop).real;
  int64_t steps = std::max<int64_t>(endpoint ? count - 1 : count, 1);
  auto broadcast = [&](double value) {
    return r.broadcast(r.expr(Operand(value), dtype), shape);
  };
  Expr i = positions(r, shape, dtype, 0);
  Expr result =
      broadcast(first) + i * broadcast((last - first) / double(steps));
  if (endpoint && count > 1)
    result = select(i == double(count - 1), broadcast(last), result);
  return r.finish(result);
}

// Matrices

/// Where column - row of the last two dimensions is at least (at most) k.
static Expr triangle(Recording &r, const Shape &shape, int64_t k, bool upper) {
  int64_t rank = int64_t(shape.size());
  Expr row = positions(r, shape, i64, rank - 2);
  Expr column = positions(r, shape, i64, rank - 1);
  Expr distance = column - row, bound = distance.full(double(k));
  return upper ? distance >= bound : distance <= bound;
}

Tensor eye(int64_t rows, std::optional<int64_t> columns, int64_t k, DType dtype,
           std::source_location place) {
  Recording r("eye", place);
  Shape shape{rows, columns.value_or(rows)};
  checkedType(r, shape, dtype);
  Expr isOn = triangle(r, shape, k, true) & triangle(r, shape, k, false);
  return r.finish(r.convert(isOn, dtype));
}

static Tensor keepTriangle(const char *name, const Operand &x, int64_t k,
                           bool upper) {
  Recording r(name, x);
  Shape shape = shapeOf(x);
  if (shape.size() < 2)
    r.fail<ShapeError>("a triangle needs two dimensions: " + typeText(x));
  Expr a = r.expr(x);
  return r.finish(select(triangle(r, shape, k, upper), a, a.zero()));
}

Tensor tril(const Operand &x, int64_t k) {
  return keepTriangle("tril", x, k, false);
}
Tensor triu(const Operand &x, int64_t k) {
  return keepTriangle("triu", x, k, true);
}

Tensor one_hot(const Operand &x, int64_t classes, DType dtype) {
  Recording r("one_hot", x);
  if (!runtime::isSigned(dtypeFor(x)))
    r.fail<TypeError>("positions are integers: " + typeText(x));
  Shape shape = shapeOf(x);
  shape.push_back(classes);
  checkedType(r, shape, dtype);
  int64_t last = int64_t(shape.size()) - 1;
  Expr place = r.expr(x);
  Expr wanted = expand(place, r.type(dtypeFor(x), shape), last);
  return r.finish(
      r.convert(positions(r, shape, dtypeFor(x), last) == wanted, dtype));
}

} // namespace tessera
