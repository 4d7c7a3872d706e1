// Tensor expressions in C++ operators: derivative rules and decompositions read
// as formulas.
#ifndef TESSERA_IR_EXPR_H
#define TESSERA_IR_EXPR_H

#include "dialects/Tessera/IR/Tessera.h"

namespace tessera::ir {

/// A tensor value and the place where further ops are created. Numbers become
/// constants of the tensor's type.
class Expr {
public:
  Expr(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value)
      : builder(&builder), loc(loc), v(value) {}

  mlir::Value value() const { return v; }
  mlir::OpBuilder &at() const { return *builder; }
  mlir::Location location() const { return loc; }
  mlir::RankedTensorType type() const { return tensorType(v); }

  /// This tensor's shape filled with `number`.
  Expr full(double number) const;
  Expr zero() const { return full(0.0); }
  Expr one() const { return full(1.0); }
  Expr with(mlir::Value other) const { return Expr(*builder, loc, other); }

private:
  mlir::OpBuilder *builder;
  mlir::Location loc;
  mlir::Value v;
};

Expr operator-(Expr x);
Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);
inline Expr operator+(Expr a, double b) { return a + a.full(b); }
inline Expr operator-(Expr a, double b) { return a - a.full(b); }
inline Expr operator-(double a, Expr b) { return b.full(a) - b; }
inline Expr operator*(Expr a, double b) { return a * a.full(b); }

Expr compare(Comparison comparison, Expr a, Expr b);
inline Expr operator>(Expr a, Expr b) { return compare(Comparison::gt, a, b); }
inline Expr operator<(Expr a, Expr b) { return compare(Comparison::lt, a, b); }
inline Expr operator==(Expr a, Expr b) { return compare(Comparison::eq, a, b); }
inline Expr operator>(Expr a, double b) { return a > a.full(b); }
inline Expr operator<(Expr a, double b) { return a < a.full(b); }
inline Expr operator==(Expr a, double b) { return a == a.full(b); }

Expr select(Expr predicate, Expr a, Expr b);
Expr exp(Expr x);
Expr log(Expr x);
Expr sin(Expr x);
Expr cos(Expr x);
Expr pow(Expr a, Expr b);
/// b * a^(b-1), the derivative of a^b over a. It is 0 for b = 0, even at a = 0.
Expr powSlope(Expr a, Expr b);
Expr convert(Expr x, mlir::Type element);
Expr reduce(Reduction reduction, Expr x, llvm::ArrayRef<int64_t> dims);
/// Undoes a reduction's shape: repeats `x` along `dims` of `type`.
Expr expand(Expr x, mlir::RankedTensorType type, llvm::ArrayRef<int64_t> dims);
Expr reshape(Expr x, llvm::ArrayRef<int64_t> shape);

namespace detail {
/// The sum of two tangents, either of which may be zero (null).
mlir::Value addTangents(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value a, mlir::Value b);
/// A constant of `type` with `number` everywhere.
mlir::Value full(mlir::OpBuilder &builder, mlir::Location loc,
                 mlir::RankedTensorType type, double number);
} // namespace detail

} // namespace tessera::ir

#endif
