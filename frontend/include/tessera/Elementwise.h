// Functions of the elements at one index. Operands broadcast, and meet in one
// dtype by the table in docs/dtypes.md.
#pragma once

#include "tessera/Tensor.h"

namespace tessera {

// Arithmetic

Tensor add(const Operand &x, const Operand &y);
Tensor subtract(const Operand &x, const Operand &y);
Tensor multiply(const Operand &x, const Operand &y);
/// x / y; of integers in f32.
Tensor divide(const Operand &x, const Operand &y);
/// The quotient rounded down; of integers 0 where y is 0.
Tensor floor_divide(const Operand &x, const Operand &y);
/// x - floor_divide(x, y) * y, with the sign of y; of integers 0 where y is 0.
Tensor remainder(const Operand &x, const Operand &y);
/// x to the power of y. A small integer y given as a number is computed by
/// multiplications; an integer x needs such a y, not below 0.
Tensor pow(const Operand &x, const Operand &y);
/// The larger (smaller) one; NaN where either is NaN.
Tensor maximum(const Operand &x, const Operand &y);
Tensor minimum(const Operand &x, const Operand &y);
Tensor negative(const Operand &x);
Tensor abs(const Operand &x);
/// -1, 0 or 1; NaN for NaN.
Tensor sign(const Operand &x);
Tensor square(const Operand &x);
/// x where it lies between the bounds, else the nearer bound; `none` is no
/// bound.
Tensor clip(const Operand &x, const std::optional<Operand> &low,
            const std::optional<Operand> &high);

// Functions of floats; integers are converted to f32

Tensor exp(const Operand &x);
/// exp(x) - 1, accurate near 0.
Tensor expm1(const Operand &x);
Tensor log(const Operand &x);
/// log(1 + x), accurate near 0.
Tensor log1p(const Operand &x);
Tensor log2(const Operand &x);
Tensor log10(const Operand &x);
/// log(exp(x) + exp(y)) without overflow.
Tensor logaddexp(const Operand &x, const Operand &y);
Tensor sqrt(const Operand &x);
Tensor rsqrt(const Operand &x);
Tensor reciprocal(const Operand &x);
Tensor sin(const Operand &x);
Tensor cos(const Operand &x);
Tensor tan(const Operand &x);
Tensor sinh(const Operand &x);
Tensor cosh(const Operand &x);
Tensor tanh(const Operand &x);
Tensor asinh(const Operand &x);
Tensor acosh(const Operand &x);
Tensor atanh(const Operand &x);
Tensor erf(const Operand &x);

// Rounding; integers stay as they are

Tensor floor(const Operand &x);
Tensor ceil(const Operand &x);
/// To the nearest integer, halves to the even one.
Tensor round(const Operand &x);
/// Towards zero.
Tensor trunc(const Operand &x);

// Tests, comparisons and logic; the result is of bools

Tensor isnan(const Operand &x);
Tensor isinf(const Operand &x);
Tensor isfinite(const Operand &x);
Tensor equal(const Operand &x, const Operand &y);
Tensor not_equal(const Operand &x, const Operand &y);
Tensor less(const Operand &x, const Operand &y);
Tensor less_equal(const Operand &x, const Operand &y);
Tensor greater(const Operand &x, const Operand &y);
Tensor greater_equal(const Operand &x, const Operand &y);
/// Numbers other than 0 count as true.
Tensor logical_and(const Operand &x, const Operand &y);
Tensor logical_or(const Operand &x, const Operand &y);
Tensor logical_xor(const Operand &x, const Operand &y);
Tensor logical_not(const Operand &x);

// Bits of integers and bools

Tensor bitwise_and(const Operand &x, const Operand &y);
Tensor bitwise_or(const Operand &x, const Operand &y);
Tensor bitwise_xor(const Operand &x, const Operand &y);
Tensor bitwise_invert(const Operand &x);
/// x * 2^y, wrapping; 0 once all bits are shifted out, or y is negative.
Tensor bitwise_left_shift(const Operand &x, const Operand &y);
/// x / 2^y rounded down; y below 0 counts as very large.
Tensor bitwise_right_shift(const Operand &x, const Operand &y);

// Choice

/// x where the condition holds, else y.
Tensor where(const Operand &condition, const Operand &x, const Operand &y);

// Operators

inline Tensor operator+(const Operand &x, const Operand &y) {
  return add(x, y);
}
inline Tensor operator-(const Operand &x, const Operand &y) {
  return subtract(x, y);
}
inline Tensor operator*(const Operand &x, const Operand &y) {
  return multiply(x, y);
}
inline Tensor operator/(const Operand &x, const Operand &y) {
  return divide(x, y);
}
inline Tensor operator%(const Operand &x, const Operand &y) {
  return remainder(x, y);
}
inline Tensor operator-(const Operand &x) { return negative(x); }
inline Tensor operator==(const Operand &x, const Operand &y) {
  return equal(x, y);
}
inline Tensor operator!=(const Operand &x, const Operand &y) {
  return not_equal(x, y);
}
inline Tensor operator<(const Operand &x, const Operand &y) {
  return less(x, y);
}
inline Tensor operator<=(const Operand &x, const Operand &y) {
  return less_equal(x, y);
}
inline Tensor operator>(const Operand &x, const Operand &y) {
  return greater(x, y);
}
inline Tensor operator>=(const Operand &x, const Operand &y) {
  return greater_equal(x, y);
}
/// Elementwise; both sides are always computed.
inline Tensor operator&&(const Operand &x, const Operand &y) {
  return logical_and(x, y);
}
inline Tensor operator||(const Operand &x, const Operand &y) {
  return logical_or(x, y);
}
inline Tensor operator!(const Operand &x) { return logical_not(x); }
inline Tensor operator&(const Operand &x, const Operand &y) {
  return bitwise_and(x, y);
}
inline Tensor operator|(const Operand &x, const Operand &y) {
  return bitwise_or(x, y);
}
inline Tensor operator^(const Operand &x, const Operand &y) {
  return bitwise_xor(x, y);
}
inline Tensor operator~(const Operand &x) { return bitwise_invert(x); }
inline Tensor operator<<(const Operand &x, const Operand &y) {
  return bitwise_left_shift(x, y);
}
inline Tensor operator>>(const Operand &x, const Operand &y) {
  return bitwise_right_shift(x, y);
}

} // namespace tessera
