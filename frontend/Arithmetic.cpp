// Arithmetic, comparisons, logic and bits: mostly one op of the dialect each.
#include "frontend/Formula.h"
#include "frontend/Operands.h"
#include "tessera/Elementwise.h"

using namespace mlir;

namespace tessera {
using namespace detail;
using ir::Comparison;

// Two operands

/// Two tensors of one type need neither promotion nor broadcasting.
static bool haveOneType(const Operand &x, const Operand &y) {
  if (x.isScalar() || y.isScalar())
    return false;
  TensorImpl *a = x.tensor().handle().get(), *b = y.tensor().handle().get();
  return a && b && a->dtype == b->dtype && a->shape == b->shape;
}

namespace {
/// Both operands in one dtype and shape.
struct Pair {
  Value a, b;
  DType dtype;
};
} // namespace

/// A number in the type of a tensor that it meets.
static Value numberFor(Recording &r, const Operand &number, Value tensor,
                       DType dtype) {
  Value scalar = r.expr(number, dtype).value();
  return ir::tensorType(tensor).getRank() == 0
             ? scalar
             : r.create<ir::BroadcastOp>(tensor.getType(), scalar,
                                         r.trace().noDims());
}

static Pair meet(Recording &r, const Operand &x, const Operand &y) {
  if (haveOneType(x, y))
    return {r.value(x.tensor()), r.value(y.tensor()), x.tensor().dtype()};
  DType dtype = commonDType(r, {&x, &y});
  if (x.isScalar() != y.isScalar()) {
    const Operand &tensor = x.isScalar() ? y : x;
    if (tensor.tensor().dtype() == dtype) {
      Value value = r.value(tensor.tensor());
      Value number = numberFor(r, x.isScalar() ? x : y, value, dtype);
      return x.isScalar() ? Pair{number, value, dtype}
                          : Pair{value, number, dtype};
    }
  }
  auto both = together(r, {&x, &y}, dtype);
  return {both[0].value(), both[1].value(), dtype};
}

template <typename Op>
static Tensor arithmetic(const char *name, const Operand &x, const Operand &y) {
  Recording r(name, x, y);
  if (Tensor known = r.recall(); known.defined())
    return known;
  Pair pair = meet(r, x, y);
  requireNumbers(r, pair.dtype, {&x, &y});
  return r.finish(r.create<Op>(pair.a.getType(), {pair.a, pair.b}));
}

Tensor add(const Operand &x, const Operand &y) {
  return arithmetic<ir::AddOp>("add", x, y);
}
Tensor subtract(const Operand &x, const Operand &y) {
  return arithmetic<ir::SubOp>("subtract", x, y);
}
Tensor multiply(const Operand &x, const Operand &y) {
  return arithmetic<ir::MulOp>("multiply", x, y);
}
Tensor maximum(const Operand &x, const Operand &y) {
  return arithmetic<ir::MaxOp>("maximum", x, y);
}
Tensor minimum(const Operand &x, const Operand &y) {
  return arithmetic<ir::MinOp>("minimum", x, y);
}

Tensor divide(const Operand &x, const Operand &y) {
  Recording r("divide", x, y);
  if (Tensor known = r.recall(); known.defined())
    return known;
  auto both = together(r, {&x, &y}, floatingDType(commonDType(r, {&x, &y})));
  return r.finish(both[0] / both[1]);
}

static Expr integerPower(Expr x, int64_t exponent) {
  if (exponent == 0)
    return x.one();
  // Squares x and multiplies those powers that the exponent's bits name.
  std::optional<Expr> product;
  while (true) {
    if (exponent & 1)
      product = product ? *product * x : x;
    exponent >>= 1;
    if (exponent == 0)
      return *product;
    x = x * x;
  }
}

/// Exponents up to this size are multiplied out.
static constexpr int64_t kLargestExponent = 8;

Tensor pow(const Operand &x, const Operand &y) {
  Recording r("pow", x, y);
  bool isWhole = y.isScalar() && y.scalar().real == std::floor(y.scalar().real);
  int64_t exponent = isWhole ? int64_t(y.scalar().real) : 0;
  if (Tensor known = r.recall(isWhole, exponent); known.defined())
    return known;
  DType dtype = commonDType(r, {&x, &y});
  if (!runtime::isFloat(dtypeFor(x)) && !runtime::isFloat(dtypeFor(y))) {
    requireNumbers(r, dtype, {&x, &y});
    if (!isWhole || exponent < 0)
      r.fail<ValueError>(
          "an integer can only be raised to a number that is not "
          "negative: " +
          typesText({&x, &y}));
    return r.finish(integerPower(r.expr(x, dtype), exponent));
  }
  if (isWhole && std::abs(exponent) <= kLargestExponent) {
    Expr base = r.expr(x, floatingDType(dtype));
    Expr power = integerPower(base, std::abs(exponent));
    return r.finish(exponent < 0 ? 1.0 / power : power);
  }
  auto both = together(r, {&x, &y}, dtype);
  return r.finish(ir::pow(both[0], both[1]));
}

// One operand

template <typename Op>
static Tensor unaryNumber(const char *name, const Operand &x) {
  Recording r(name, x);
  if (Tensor known = r.recall(); known.defined())
    return known;
  Expr a = r.expr(x);
  requireNumbers(r, dtypeFor(x), {&x});
  return r.finish(r.create<Op>(a.type(), a.value()));
}

Tensor negative(const Operand &x) {
  return unaryNumber<ir::NegOp>("negative", x);
}
Tensor abs(const Operand &x) { return unaryNumber<ir::AbsOp>("abs", x); }

Tensor square(const Operand &x) {
  Recording r("square", x);
  if (Tensor known = r.recall(); known.defined())
    return known;
  requireNumbers(r, dtypeFor(x), {&x});
  Expr a = r.expr(x);
  return r.finish(a * a);
}

Tensor sign(const Operand &x) {
  Recording r("sign", x);
  if (Tensor known = r.recall(); known.defined())
    return known;
  requireNumbers(r, dtypeFor(x), {&x});
  Expr a = r.expr(x);
  // Zeros keep their sign, and NaN stays.
  return r.finish(
      select(a > 0.0, a.one(), select(a < 0.0, a.full(-1), fixed(a))));
}

Tensor clip(const Operand &x, const std::optional<Operand> &low,
            const std::optional<Operand> &high) {
  SmallVector<const Operand *, 3> operands{&x};
  SmallVector<const Tensor *, 3> tensors;
  if (low)
    operands.push_back(&*low);
  if (high)
    operands.push_back(&*high);
  for (const Operand *operand : operands)
    if (!operand->isScalar())
      tensors.push_back(&operand->tensor());
  Recording r("clip", x.place(), tensors);
  DType dtype = commonDType(r, operands);
  requireNumbers(r, dtype, operands);
  auto all = together(r, operands, dtype);
  Expr result = all[0];
  if (low)
    result = maximum(result, all[1]);
  if (high)
    result = minimum(result, all.back());
  return r.finish(result);
}

// Comparisons

static Tensor compareAs(const char *name, Comparison comparison,
                        const Operand &x, const Operand &y) {
  Recording r(name, x, y);
  if (Tensor known = r.recall(); known.defined())
    return known;
  Pair pair = meet(r, x, y);
  Type type = ir::tensorType(pair.a).clone(r.builder().getI1Type());
  return r.finish(r.create<ir::CompareOp>(
      type, {pair.a, pair.b},
      r.builder().getNamedAttr(
          "comparison", ir::ComparisonAttr::get(r.context(), comparison))));
}

Tensor equal(const Operand &x, const Operand &y) {
  return compareAs("equal", Comparison::eq, x, y);
}
Tensor not_equal(const Operand &x, const Operand &y) {
  return compareAs("not_equal", Comparison::ne, x, y);
}
Tensor less(const Operand &x, const Operand &y) {
  return compareAs("less", Comparison::lt, x, y);
}
Tensor less_equal(const Operand &x, const Operand &y) {
  return compareAs("less_equal", Comparison::le, x, y);
}
Tensor greater(const Operand &x, const Operand &y) {
  return compareAs("greater", Comparison::gt, x, y);
}
Tensor greater_equal(const Operand &x, const Operand &y) {
  return compareAs("greater_equal", Comparison::ge, x, y);
}

// Tests

/// A test that every integer answers alike.
template <typename F>
static Tensor test(const char *name, const Operand &x, bool ofIntegers, F f) {
  Recording r(name, x);
  if (Tensor known = r.recall(); known.defined())
    return known;
  Expr a = r.expr(x);
  if (runtime::isFloat(dtypeFor(x)))
    return r.finish(f(a));
  auto type = a.type().clone(r.builder().getI1Type());
  return r.finish(
      ir::detail::full(r.builder(), r.location(), type, ofIntegers));
}

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor isnan(const Operand &x) {
  return test("isnan", x, false, [](Expr a) { return a != a; });
}
Tensor isinf(const Operand &x) {
  return test("isinf", x, false, [](Expr a) { return abs(a) == kInfinity; });
}
Tensor isfinite(const Operand &x) {
  return test("isfinite", x, true, [](Expr a) { return abs(a) < kInfinity; });
}

// Logic and bits

template <typename Op>
static Tensor logic(const char *name, const Operand &x, const Operand &y) {
  Recording r(name, x, y);
  if (Tensor known = r.recall(); known.defined())
    return known;
  commonDType(r, {&x, &y});
  auto both = together(r, {&x, &y}, boolean);
  return r.finish(same<Op>(both[0], both[1]));
}

Tensor logical_and(const Operand &x, const Operand &y) {
  return logic<ir::AndOp>("logical_and", x, y);
}
Tensor logical_or(const Operand &x, const Operand &y) {
  return logic<ir::OrOp>("logical_or", x, y);
}
Tensor logical_xor(const Operand &x, const Operand &y) {
  return logic<ir::XorOp>("logical_xor", x, y);
}
Tensor logical_not(const Operand &x) {
  Recording r("logical_not", x);
  if (Tensor known = r.recall(); known.defined())
    return known;
  return r.finish(!r.expr(x, boolean));
}

static void requireBits(Recording &r, DType dtype, Operands operands) {
  if (runtime::isFloat(dtype))
    r.fail<TypeError>("floats have no bits to combine: " + typesText(operands));
}

template <typename Op>
static Tensor bits(const char *name, const Operand &x, const Operand &y) {
  Recording r(name, x, y);
  if (Tensor known = r.recall(); known.defined())
    return known;
  Pair pair = meet(r, x, y);
  requireBits(r, pair.dtype, {&x, &y});
  return r.finish(r.create<Op>(pair.a.getType(), {pair.a, pair.b}));
}

Tensor bitwise_and(const Operand &x, const Operand &y) {
  return bits<ir::AndOp>("bitwise_and", x, y);
}
Tensor bitwise_or(const Operand &x, const Operand &y) {
  return bits<ir::OrOp>("bitwise_or", x, y);
}
Tensor bitwise_xor(const Operand &x, const Operand &y) {
  return bits<ir::XorOp>("bitwise_xor", x, y);
}
Tensor bitwise_invert(const Operand &x) {
  Recording r("bitwise_invert", x);
  requireBits(r, dtypeFor(x), {&x});
  return r.finish(!r.expr(x));
}

Tensor where(const Operand &condition, const Operand &x, const Operand &y) {
  Recording r("where", condition, x, y);
  if (Tensor known = r.recall(); known.defined())
    return known;
  Shape shape = commonShape(r, {&condition, &x, &y});
  DType dtype = commonDType(r, {&x, &y});
  Expr predicate = r.broadcast(r.expr(condition, boolean), shape);
  Expr a = r.broadcast(r.expr(x, dtype), shape);
  Expr b = r.broadcast(r.expr(y, dtype), shape);
  return r.finish(select(predicate, a, b));
}

} // namespace tessera
