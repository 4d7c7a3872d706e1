// Functions of neural networks.
#include "tessera/Activation.h"

#include "frontend/Functions.h"
#include "frontend/Operands.h"

#include <numbers>

using namespace mlir;

namespace tessera {
using namespace detail;
using ir::Reduction;

template <typename F>
static Tensor formula(const char *name, const Operand &x, F f,
                      int64_t parameter = 0) {
  Recording r(name, x);
  if (Tensor known = r.recall(parameter); known.defined())
    return known;
  return r.finish(f(floating(r, x)));
}

Tensor relu(const Operand &x) {
  Recording r("relu", x);
  if (Tensor known = r.recall(); known.defined())
    return known;
  requireNumbers(r, dtypeFor(x), {&x});
  Expr a = r.expr(x);
  return r.finish(select(a <= 0.0, a.zero(), a));
}

Tensor sigmoid(const Operand &x) {
  return formula("sigmoid", x, [](Expr a) { return detail::sigmoid(a); });
}
Tensor silu(const Operand &x) {
  return formula("silu", x, [](Expr a) { return a * detail::sigmoid(a); });
}
Tensor softplus(const Operand &x) {
  return formula("softplus", x, [](Expr a) { return detail::softplus(a); });
}

Tensor gelu(const Operand &x, bool approximate) {
  auto gelu = [=](Expr a) {
    if (!approximate)
      return a * 0.5 * (1.0 + erf(a * (1 / std::numbers::sqrt2)));
    Expr cubic = a + a * a * a * 0.044715;
    double scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
    return a * 0.5 * (1.0 + tanh(cubic * scale));
  };
  return formula("gelu", x, gelu, approximate);
}

template <typename Op>
static Tensor alongAxis(const char *name, const Operand &x, int64_t axis) {
  Recording r(name, x);
  if (Tensor known = r.recall(axis); known.defined())
    return known;
  Expr a = floating(r, x);
  int64_t dim = checkAxis(r, axis, a.type().getRank());
  return r.finish(r.infer<Op>(
      a.value(),
      r.builder().getNamedAttr("dim", r.builder().getI64IntegerAttr(dim))));
}

Tensor softmax(const Operand &x, int64_t axis) {
  return alongAxis<ir::SoftmaxOp>("softmax", x, axis);
}
Tensor log_softmax(const Operand &x, int64_t axis) {
  return alongAxis<ir::LogSoftmaxOp>("log_softmax", x, axis);
}

// Norms

namespace {
/// The operands of a norm, and the dimensions it runs over.
class Norm {
public:
  Norm(const char *name, const Operand &x, const std::optional<Operand> &weight,
       const std::optional<Operand> &bias, int64_t dims)
      : r(name, x.place(), tensors(x, weight, bias)) {
    rank = int64_t(shapeOf(x).size());
    if (dims < 1 || dims > rank)
      r.fail<ShapeError>("there are not " + std::to_string(dims) +
                         " dimensions to normalise: " + typeText(x));
    for (int64_t i = rank - dims; i < rank; ++i)
      over.push_back(i);
  }

  Expr mean(Expr x) {
    int64_t count = 1;
    for (int64_t dim : over)
      count *= x.type().getDimSize(dim);
    Expr total = ir::reduce(Reduction::sum, x, over);
    return ir::expand(total / double(count), x.type(), over);
  }

  /// A weight or bias in the dtype and shape of x, to which it broadcasts.
  Expr parameter(const Operand &p, Expr x) {
    Shape shape = shapeOf(x.value());
    Shape given = detail::shapeOf(p);
    bool fits = given.size() <= shape.size();
    for (size_t i = 1; fits && i <= given.size(); ++i) {
      int64_t dim = given[given.size() - i];
      fits = dim == 1 || dim == shape[shape.size() - i];
    }
    if (!fits)
      r.fail<ShapeError>(
          "a parameter does not broadcast to the tensor: " + typeText(p) +
          " and " + typeText(dtypeFor(x.value()), shape));
    return r.broadcast(r.expr(p, dtypeFor(x.value())), shape);
  }

  Recording r;

private:
  static SmallVector<const Tensor *, 3>
  tensors(const Operand &x, const std::optional<Operand> &weight,
          const std::optional<Operand> &bias) {
    SmallVector<const Tensor *, 3> list{&x.tensor()};
    if (weight && !weight->isScalar())
      list.push_back(&weight->tensor());
    if (bias && !bias->isScalar())
      list.push_back(&bias->tensor());
    return list;
  }

  int64_t rank;
  SmallVector<int64_t> over;
};
} // namespace

Tensor layer_norm(const Operand &x, const std::optional<Operand> &weight,
                  const std::optional<Operand> &bias, double epsilon,
                  int64_t dims) {
  Norm norm("layer_norm", x, weight, bias, dims);
  Expr a = floating(norm.r, x);
  Expr distance = a - norm.mean(a);
  Expr y = distance * rsqrt(norm.mean(distance * distance) + epsilon);
  if (weight)
    y = y * norm.parameter(*weight, y);
  if (bias)
    y = y + norm.parameter(*bias, y);
  return norm.r.finish(y);
}

Tensor rms_norm(const Operand &x, const std::optional<Operand> &weight,
                double epsilon) {
  Norm norm("rms_norm", x, weight, none, 1);
  Expr a = floating(norm.r, x);
  Expr y = a * rsqrt(norm.mean(a * a) + epsilon);
  if (weight)
    y = y * norm.parameter(*weight, y);
  return norm.r.finish(y);
}

// Losses

Tensor cross_entropy(const Operand &logits, const Operand &labels) {
  Recording r("cross_entropy", logits, labels);
  if (Tensor known = r.recall(); known.defined())
    return known;
  if (!runtime::isSigned(dtypeFor(labels)))
    r.fail<TypeError>("labels are integers: " + typesText({&logits, &labels}));
  Expr x = floating(r, logits), y = r.expr(labels);
  Expr losses = r.expr(r.infer<ir::CrossEntropyOp>({x.value(), y.value()}));
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, losses.type().getRank()));
  double count = double(losses.type().getNumElements());
  return r.finish(ir::reduce(Reduction::sum, losses, all) / count);
}

} // namespace tessera
