// Reductions: the dialect's few, and those composed of them.
#include "tessera/Reduction.h"

#include "frontend/Formula.h"
#include "frontend/Functions.h"
#include "frontend/Operands.h"

using namespace mlir;

namespace tessera {
using namespace detail;
using ir::Reduction;

namespace {
/// One call of a reduction: its axes, and whether they stay with size 1.
class Reducing {
public:
  Reducing(const char *name, const Operand &x, const Axes &axis, bool keepdims)
      : r(name, x), rank(int64_t(shapeOf(x).size())), keepdims(keepdims) {
    dims = checkAxes(r, axis, rank);
  }

  /// As that of the recording.
  Tensor recall(double parameter = 0) {
    SmallVector<int64_t, 6> parameters{keepdims,
                                       std::bit_cast<int64_t>(parameter)};
    parameters.append(dims);
    return r.recall(parameters);
  }

  Expr reduce(Reduction reduction, Expr x) {
    auto &b = r.builder();
    return x.with(r.infer<ir::ReduceOp>(
        x.value(), {b.getNamedAttr("dims", b.getDenseI64ArrayAttr(dims)),
                    b.getNamedAttr("reduction", ir::ReductionAttr::get(
                                                    r.context(), reduction))}));
  }
  /// Repeats a reduced value along the axes of `like`.
  Expr expand(Expr reduced, Expr like) {
    return ir::expand(reduced, like.type(), dims);
  }
  /// How many elements one result is made of.
  int64_t count(Expr x) {
    int64_t product = 1;
    for (int64_t dim : dims)
      product *= x.type().getDimSize(dim);
    return product;
  }
  Expr mean(Expr x) { return reduce(Reduction::sum, x) / double(count(x)); }

  Tensor finish(Expr reduced) {
    if (!keepdims)
      return r.finish(reduced);
    SmallVector<int64_t> shape;
    auto sizes = reduced.type().getShape();
    for (int64_t i = 0, next = 0; i < rank; ++i)
      shape.push_back(llvm::is_contained(dims, i) ? 1 : sizes[next++]);
    return r.finish(ir::reshape(reduced, shape));
  }

  Recording r;
  int64_t rank;
  bool keepdims;
  SmallVector<int64_t> dims;
};
} // namespace

/// Small integers are summed where the sum fits.
static DType sumDType(DType dtype) {
  return runtime::isFloat(dtype) ? dtype : i64;
}

Tensor sum(const Operand &x, const Axes &axis, bool keepdims) {
  Reducing s("sum", x, axis, keepdims);
  if (Tensor known = s.recall(); known.defined())
    return known;
  return s.finish(s.reduce(Reduction::sum, s.r.expr(x, sumDType(dtypeFor(x)))));
}
Tensor prod(const Operand &x, const Axes &axis, bool keepdims) {
  Reducing s("prod", x, axis, keepdims);
  if (Tensor known = s.recall(); known.defined())
    return known;
  return s.finish(
      s.reduce(Reduction::prod, s.r.expr(x, sumDType(dtypeFor(x)))));
}
Tensor max(const Operand &x, const Axes &axis, bool keepdims) {
  Reducing s("max", x, axis, keepdims);
  if (Tensor known = s.recall(); known.defined())
    return known;
  return s.finish(s.reduce(Reduction::max, s.r.expr(x)));
}
Tensor min(const Operand &x, const Axes &axis, bool keepdims) {
  Reducing s("min", x, axis, keepdims);
  if (Tensor known = s.recall(); known.defined())
    return known;
  return s.finish(s.reduce(Reduction::min, s.r.expr(x)));
}
Tensor any(const Operand &x, const Axes &axis, bool keepdims) {
  Reducing s("any", x, axis, keepdims);
  if (Tensor known = s.recall(); known.defined())
    return known;
  Expr a = s.r.expr(x, boolean);
  // Over nothing there is no maximum, but the answer is known.
  if (s.count(a) == 0)
    return s.finish(s.reduce(Reduction::sum, s.r.convert(a, i64)) != 0.0);
  return s.finish(s.reduce(Reduction::max, a));
}
Tensor all(const Operand &x, const Axes &axis, bool keepdims) {
  Reducing s("all", x, axis, keepdims);
  if (Tensor known = s.recall(); known.defined())
    return known;
  Expr a = s.r.expr(x, boolean);
  if (s.count(a) == 0)
    return s.finish(s.reduce(Reduction::prod, s.r.convert(a, i64)) != 0.0);
  return s.finish(s.reduce(Reduction::min, a));
}

Tensor mean(const Operand &x, const Axes &axis, bool keepdims) {
  Reducing s("mean", x, axis, keepdims);
  if (Tensor known = s.recall(); known.defined())
    return known;
  return s.finish(s.mean(floating(s.r, x)));
}

static Expr variance(Reducing &s, Expr x, double correction) {
  Expr distance = x - s.expand(s.mean(x), x);
  return s.reduce(Reduction::sum, distance * distance) /
         (double(s.count(x)) - correction);
}

Tensor var(const Operand &x, const Axes &axis, double correction,
           bool keepdims) {
  Reducing s("var", x, axis, keepdims);
  if (Tensor known = s.recall(correction); known.defined())
    return known;
  return s.finish(variance(s, floating(s.r, x), correction));
}
Tensor std(const Operand &x, const Axes &axis, double correction,
           bool keepdims) {
  Reducing s("std", x, axis, keepdims);
  if (Tensor known = s.recall(correction); known.defined())
    return known;
  return s.finish(sqrt(variance(s, floating(s.r, x), correction)));
}

Tensor logsumexp(const Operand &x, const Axes &axis, bool keepdims) {
  Reducing s("logsumexp", x, axis, keepdims);
  if (Tensor known = s.recall(); known.defined())
    return known;
  Expr a = floating(s.r, x);
  if (s.count(a) == 0)
    return s.finish(ir::log(s.reduce(Reduction::sum, a)));
  // Any shift gives the same value and derivative; an infinite one none.
  Expr shift = fixed(s.reduce(Reduction::max, a));
  Expr isFinite = abs(shift) < std::numeric_limits<double>::infinity();
  shift = select(isFinite, shift, shift.zero());
  Expr total = s.reduce(Reduction::sum, ir::exp(a - s.expand(shift, a)));
  return s.finish(ir::log(total) + shift);
}

// Positions

static Axes toAxes(std::optional<int64_t> axis) {
  return axis ? Axes(*axis) : Axes();
}

Tensor argmax(const Operand &x, std::optional<int64_t> axis, bool keepdims) {
  Reducing s("argmax", x, toAxes(axis), keepdims);
  if (Tensor known = s.recall(); known.defined())
    return known;
  return s.finish(s.reduce(Reduction::argmax, s.r.expr(x)));
}

Tensor argmin(const Operand &x, std::optional<int64_t> axis, bool keepdims) {
  Reducing s("argmin", x, toAxes(axis), keepdims);
  if (Tensor known = s.recall(); known.defined())
    return known;
  Expr a = s.r.expr(x);
  // Both turn the order around: -x for floats, and ~x for all integers.
  Expr turned = runtime::isFloat(dtypeFor(x)) ? -a : !a;
  return s.finish(s.reduce(Reduction::argmax, turned));
}

} // namespace tessera
