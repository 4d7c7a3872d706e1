// Arithmetic on MLIR values written as C++ expressions, the same for scalars
// and vectors.
#pragma once
#include "lowering/Math/ExpandMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera::lowering::vmath {

/// Constants already made, by the block at whose head they stand: one copy a
/// function, however many expansions.
using ConstantCache =
    llvm::DenseMap<std::pair<mlir::Block *, mlir::Attribute>, mlir::Value>;

/// Where and for whom one operation is being expanded.
struct Emitter {
  mlir::OpBuilder &builder;
  mlir::Location loc;
  const MathTarget &target;
  ConstantCache &cache;

  /// A constant at the head of the enclosing function, so that it dominates
  /// every later use.
  mlir::Value constant(mlir::TypedAttr value);
};

/// A float, integer or truth value, scalar or vector. Operators need operands
/// of one type; a C++ number takes the type of the other side.
struct Val {
  Emitter *e;
  mlir::Value v;

  mlir::Type type() const { return v.getType(); }
  mlir::Type element() const { return mlir::getElementTypeOrSelf(type()); }
  bool isFloat() const { return mlir::isa<mlir::FloatType>(element()); }
  bool isF32() const { return element().isF32(); }
  /// This value's shape with another element type.
  mlir::Type withElement(mlir::Type element) const;
  /// A constant of this value's type. Integers take the low bits.
  Val number(double x) const;
  Val integer(int64_t x) const;
};

template <typename T>
concept Number = std::is_arithmetic_v<T>;
template <Number T> Val like(Val a, T x) {
  return a.isFloat() ? a.number(double(x)) : a.integer(int64_t(x));
}

Val operator+(Val a, Val b);
Val operator-(Val a, Val b);
Val operator*(Val a, Val b);
Val operator/(Val a, Val b);
Val operator-(Val a);
Val operator&(Val a, Val b);
Val operator|(Val a, Val b);
Val operator^(Val a, Val b);
Val operator<<(Val a, Val bits);
/// Logical shift right.
Val operator>>(Val a, Val bits);
/// Ordered comparisons (false on NaN), signed on integers.
Val operator<(Val a, Val b);
Val operator<=(Val a, Val b);
Val operator>(Val a, Val b);
Val operator>=(Val a, Val b);
Val equal(Val a, Val b);
/// True on NaN.
Val notEqual(Val a, Val b);

#define TESSERA_MIXED(op)                                                      \
  template <Number T> Val operator op(Val a, T b) { return a op like(a, b); }  \
  template <Number T> Val operator op(T a, Val b) { return like(b, a) op b; }
TESSERA_MIXED(+)
TESSERA_MIXED(-)
TESSERA_MIXED(*)
TESSERA_MIXED(/)
TESSERA_MIXED(&)
TESSERA_MIXED(|)
TESSERA_MIXED(^)
TESSERA_MIXED(<<)
TESSERA_MIXED(>>)
TESSERA_MIXED(<)
TESSERA_MIXED(<=)
TESSERA_MIXED(>)
TESSERA_MIXED(>=)
#undef TESSERA_MIXED
template <Number T> Val equal(Val a, T b) { return equal(a, like(a, b)); }
template <Number T> Val notEqual(Val a, T b) { return notEqual(a, like(a, b)); }

/// a * b + c: one rounding where the target has FMA, else two.
Val fma(Val a, Val b, Val c);
template <Number T> Val fma(Val a, T b, Val c) { return fma(a, like(a, b), c); }
template <Number T> Val fma(Val a, Val b, T c) { return fma(a, b, like(a, c)); }
template <Number T, Number U> Val fma(Val a, T b, U c) {
  return fma(a, like(a, b), like(a, c));
}
/// a * b + c with the product exact on every target. Without FMA it is right
/// only where a * b and c nearly cancel, which is where it is needed.
Val fmaExact(Val a, Val b, Val c);
template <Number T> Val fmaExact(Val a, T b, Val c) {
  return fmaExact(a, like(a, b), c);
}

Val select(Val condition, Val yes, Val no);
template <Number T> Val select(Val condition, T yes, Val no) {
  return select(condition, like(no, yes), no);
}
template <Number T> Val select(Val condition, Val yes, T no) {
  return select(condition, yes, like(yes, no));
}

Val abs(Val x);
Val sqrt(Val x);
/// The instruction where the target has it, else its expansion.
Val floor(Val x);
/// |magnitude| with the sign of `sign`; also where `magnitude` has a sign of
/// its own.
Val copySign(Val magnitude, Val sign);
/// The bits of a float as an integer of its width, and back.
Val bitsOf(Val x);
Val floatOf(Val bits);
Val bf16Of(Val bits);
/// An integer of another width: with zeros above, or its low bits.
Val resized(Val bits, unsigned width);
/// f32 to f64 (exact) and back (one rounding).
Val widen(Val x);
Val narrow(Val x);
/// Sum of coefficients[k] * x^k, in a fixed order of `fma`s.
Val polynomial(Val x, llvm::ArrayRef<double> coefficients);
/// min(x, limit), but NaN stays NaN; and max.
Val atMost(Val x, double limit);
Val atLeast(Val x, double limit);

/// A sum a + b as the rounded sum and its rounding error. `fastTwoSum` needs a
/// = 0 or a multiple of b's last place (for instance |a| >= |b|).
struct Pair {
  Val hi, lo;
};
Pair fastTwoSum(Val a, Val b);
Pair twoProduct(Val a, Val b);

/// Facts of a format that several expansions use.
struct FloatFormat {
  int mantissa; ///< explicit mantissa bits
  int64_t bias; ///< of the exponent
  double magic; ///< 1.5 * 2^mantissa: adding it rounds to an integer, held in
                ///< the sum's low bits
  double minNormal; ///< smallest normal number
};
const FloatFormat &formatOf(Val x);

} // namespace tessera::lowering::vmath
