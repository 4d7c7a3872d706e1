// The ops that composites need beyond those of Expr, written as formulas.
// Numbers in formulas are constants of the program.
#pragma once

#include "dialects/Tessera/IR/Expr.h"

namespace tessera::detail {

using ir::Expr;

/// Elementwise ops whose result has the type of the first operand.
template <typename Op, typename... Rest> Expr same(Expr x, Rest... rest) {
  return x.with(Op::create(x.at(), x.location(), mlir::TypeRange{x.type()},
                           mlir::ValueRange{x.value(), rest.value()...}));
}

inline Expr erf(Expr x) { return same<ir::ErfOp>(x); }
inline Expr tanh(Expr x) { return same<ir::TanhOp>(x); }
inline Expr sqrt(Expr x) { return same<ir::SqrtOp>(x); }
inline Expr rsqrt(Expr x) { return same<ir::RsqrtOp>(x); }
inline Expr abs(Expr x) { return same<ir::AbsOp>(x); }
inline Expr maximum(Expr a, Expr b) { return same<ir::MaxOp>(a, b); }
inline Expr minimum(Expr a, Expr b) { return same<ir::MinOp>(a, b); }
inline Expr operator&(Expr a, Expr b) { return same<ir::AndOp>(a, b); }
inline Expr operator|(Expr a, Expr b) { return same<ir::OrOp>(a, b); }
inline Expr operator!(Expr a) { return same<ir::NotOp>(a); }
inline Expr operator/(Expr a, double b) { return a / a.full(b); }
inline Expr operator/(double a, Expr b) { return b.full(a) / b; }
inline Expr operator+(double a, Expr b) { return b.full(a) + b; }
inline Expr operator*(double a, Expr b) { return b.full(a) * b; }
inline Expr operator!=(Expr a, Expr b) {
  return compare(ir::Comparison::ne, a, b);
}
inline Expr operator>=(Expr a, Expr b) {
  return compare(ir::Comparison::ge, a, b);
}
inline Expr operator<=(Expr a, Expr b) {
  return compare(ir::Comparison::le, a, b);
}
inline Expr operator!=(Expr a, double b) { return a != a.full(b); }
inline Expr operator>=(Expr a, double b) { return a >= a.full(b); }
inline Expr operator<=(Expr a, double b) { return a <= a.full(b); }

/// Constant for derivatives.
inline Expr fixed(Expr x) { return same<ir::StopGradientOp>(x); }

/// The position along one dimension, in the shape of x.
inline Expr iota(Expr x, mlir::Type element, int64_t dim) {
  return x.with(
      ir::IotaOp::create(x.at(), x.location(), x.type().clone(element), dim));
}

inline Expr transpose(Expr x, llvm::ArrayRef<int64_t> permutation) {
  llvm::SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(x.type().getDimSize(dim));
  return x.with(ir::TransposeOp::create(
      x.at(), x.location(), x.type().clone(shape), x.value(), permutation));
}

} // namespace tessera::detail
