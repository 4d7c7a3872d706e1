// Functions of floats: ops of the dialect, and formulas over them.
#include "frontend/Functions.h"
#include "frontend/Formula.h"
#include "frontend/Operands.h"
#include "tessera/Elementwise.h"

#include <numbers>

using namespace mlir;

namespace tessera {
using namespace detail;

template <typename Op> static Tensor unary(const char *name, const Operand &x) {
  Recording r(name, x);
  if (Tensor known = r.recall(); known.defined())
    return known;
  Expr a = floating(r, x);
  return r.finish(r.create<Op>(a.type(), a.value()));
}

template <typename F>
static Tensor formula(const char *name, const Operand &x, F f) {
  Recording r(name, x);
  if (Tensor known = r.recall(); known.defined())
    return known;
  return r.finish(f(floating(r, x)));
}

Tensor exp(const Operand &x) { return unary<ir::ExpOp>("exp", x); }
Tensor log(const Operand &x) { return unary<ir::LogOp>("log", x); }
Tensor sqrt(const Operand &x) { return unary<ir::SqrtOp>("sqrt", x); }
Tensor rsqrt(const Operand &x) { return unary<ir::RsqrtOp>("rsqrt", x); }
Tensor sin(const Operand &x) { return unary<ir::SinOp>("sin", x); }
Tensor cos(const Operand &x) { return unary<ir::CosOp>("cos", x); }
Tensor tanh(const Operand &x) { return unary<ir::TanhOp>("tanh", x); }
Tensor erf(const Operand &x) { return unary<ir::ErfOp>("erf", x); }

Tensor reciprocal(const Operand &x) {
  return formula("reciprocal", x, [](Expr a) { return 1.0 / a; });
}
Tensor log2(const Operand &x) {
  return formula("log2", x,
                 [](Expr a) { return ir::log(a) * std::numbers::log2e; });
}
Tensor log10(const Operand &x) {
  return formula("log10", x,
                 [](Expr a) { return ir::log(a) * std::numbers::log10e; });
}
Tensor tan(const Operand &x) {
  return formula("tan", x, [](Expr a) { return ir::sin(a) / ir::cos(a); });
}

// Accurate where a plain formula cancels

namespace detail {

/// `smooth` with the value of `accurate`: derivatives of every order are those
/// of the smooth formula, and what it lacks is added as a constant.
static Expr corrected(Expr smooth, Expr accurate) {
  Expr difference = accurate - smooth;
  Expr isFinite = abs(difference) < std::numeric_limits<double>::infinity();
  return smooth + fixed(select(isFinite, difference, difference.zero()));
}

// Source for both: Kahan, as quoted in Higham, "Accuracy and Stability of
// Numerical Algorithms", 2002, section 1.14.1: rounding errors of 1 + x (of
// exp(x)) cancel in the quotient.
Expr log1p(Expr x) {
  Expr u = 1.0 + x, d = u - 1.0;
  Expr accurate = select(d == 0.0, x, ir::log(u) * (x / d));
  return corrected(ir::log(u), accurate);
}

Expr expm1(Expr x) {
  Expr u = ir::exp(x), d = u - 1.0;
  Expr accurate = select(u == 1.0, x, select(d == -1.0, d, d * x / ir::log(u)));
  return corrected(d, accurate);
}

/// exp(a) lies in (0, 1] there, for the side of x that does not overflow.
Expr sigmoid(Expr x) {
  Expr isNegative = x < 0.0;
  Expr z = ir::exp(select(isNegative, x, -x));
  return select(isNegative, z, z.one()) / (1.0 + z);
}

Expr softplus(Expr x) {
  Expr isPositive = x > 0.0;
  Expr z = ir::exp(select(isPositive, -x, x));
  return select(isPositive, x, x.zero()) + log1p(z);
}

} // namespace detail

Tensor log1p(const Operand &x) {
  return formula("log1p", x, [](Expr a) { return detail::log1p(a); });
}
Tensor expm1(const Operand &x) {
  return formula("expm1", x, [](Expr a) { return detail::expm1(a); });
}

Tensor logaddexp(const Operand &x, const Operand &y) {
  Recording r("logaddexp", x, y);
  if (Tensor known = r.recall(); known.defined())
    return known;
  auto both = together(r, {&x, &y}, floatingDType(commonDType(r, {&x, &y})));
  Expr a = both[0], b = both[1];
  Expr isLarger = a >= b;
  Expr distance = select(isLarger, b - a, a - b);
  // Of two equal infinities the difference is no number.
  distance = select(a == b, distance.zero() * fixed(b.one()), distance);
  return r.finish(select(isLarger, a, b) + detail::log1p(ir::exp(distance)));
}

// Hyperbolic functions

/// exp(x) / 2, whose intermediate values do not overflow before the result.
static Expr halfExp(Expr x) {
  Expr root = ir::exp(x * 0.5);
  return root * 0.5 * root;
}

Tensor cosh(const Operand &x) {
  return formula("cosh", x, [](Expr a) { return halfExp(a) + halfExp(-a); });
}

Tensor sinh(const Operand &x) {
  return formula("sinh", x, [](Expr a) {
    Expr smooth = halfExp(a) - halfExp(-a);
    Expr e = detail::expm1(a);
    Expr nearZero = (e + e / (1.0 + e)) * 0.5;
    return corrected(smooth, select(abs(a) < 1.0, nearZero, smooth));
  });
}

/// From here on 1 + x^2 is x^2 to the last digit, and below it does not
/// overflow.
static double largeFor(Expr x) {
  return x.type().getElementType().isF16() ? 64.0 : 0x1p28;
}

Tensor asinh(const Operand &x) {
  return formula("asinh", x, [](Expr a) {
    Expr isNegative = a < 0.0;
    Expr size = select(isNegative, -a, a);
    Expr isLarge = size >= largeFor(a);
    Expr small = select(isLarge, size.zero(), size);
    Expr square = small * small;
    Expr below = detail::log1p(small + square / (1.0 + sqrt(1.0 + square)));
    Expr above = ir::log(select(isLarge, size, size.one())) + std::numbers::ln2;
    Expr y = select(isLarge, above, below);
    return select(isNegative, -y, y);
  });
}

Tensor acosh(const Operand &x) {
  return formula("acosh", x, [](Expr a) {
    Expr isLarge = a >= largeFor(a);
    Expr t = select(isLarge, a.one(), a) - 1.0;
    Expr below = detail::log1p(t + sqrt(t * (t + 2.0)));
    Expr above = ir::log(select(isLarge, a, a.one())) + std::numbers::ln2;
    return select(isLarge, above, below);
  });
}

Tensor atanh(const Operand &x) {
  return formula("atanh", x, [](Expr a) {
    return (detail::log1p(a) - detail::log1p(-a)) * 0.5;
  });
}

} // namespace tessera
