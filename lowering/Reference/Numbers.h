// Element types in C++: the narrow floats, and what an op computes each type
// in.
#ifndef TESSERA_LOWERING_REFERENCE_NUMBERS_H
#define TESSERA_LOWERING_REFERENCE_NUMBERS_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>

namespace tessera::lowering::reference {

/// A 16-bit float as it lies in memory. It is read as a float, exactly, and
/// written with one rounding.
template <const llvm::fltSemantics &(*semantics)()> struct Narrow {
  uint16_t bits = 0;

  Narrow() = default;
  explicit Narrow(const llvm::APFloat &exact) {
    llvm::APFloat rounded = exact;
    bool inexact;
    rounded.convert(semantics(), llvm::APFloat::rmNearestTiesToEven, &inexact);
    bits = static_cast<uint16_t>(rounded.bitcastToAPInt().getZExtValue());
  }
  explicit Narrow(float x) : Narrow(llvm::APFloat(x)) {}
  explicit Narrow(double x) : Narrow(llvm::APFloat(x)) {}
  explicit operator float() const {
    llvm::APFloat value(semantics(), llvm::APInt(16, bits));
    bool inexact;
    value.convert(llvm::APFloat::IEEEsingle(),
                  llvm::APFloat::rmNearestTiesToEven, &inexact);
    return value.convertToFloat();
  }
};
using Half = Narrow<&llvm::APFloat::IEEEhalf>;
using BFloat16 = Narrow<&llvm::APFloat::BFloat>;

template <typename T>
inline constexpr bool isNarrow =
    std::same_as<T, Half> || std::same_as<T, BFloat16>;
template <typename T>
inline constexpr bool isReal = std::floating_point<T> || isNarrow<T>;

/// What ops compute a type in: f32 for the narrow floats.
template <typename T> using Compute = std::conditional_t<isNarrow<T>, float, T>;
/// A wider float, in which a function is evaluated before it is rounded to T.
template <typename T>
using Wide = std::conditional_t<std::same_as<T, double>, long double, double>;

/// Calls `fn` with a value of the C++ type of an element type.
template <typename Fn>
decltype(auto) withElementType(mlir::Type element, Fn fn) {
  if (element.isF16())
    return fn(Half());
  if (element.isBF16())
    return fn(BFloat16());
  if (element.isF32())
    return fn(float());
  if (element.isF64())
    return fn(double());
  switch (llvm::cast<mlir::IntegerType>(element).getWidth()) {
  case 1:
    return fn(bool());
  case 8:
    return fn(int8_t());
  case 16:
    return fn(int16_t());
  case 32:
    return fn(int32_t());
  default:
    assert(element.isInteger(64) && "the dialect has no other element types");
    return fn(int64_t());
  }
}

/// An integer in any type: floats round once, narrower integers wrap.
template <typename T> T fromInteger(int64_t x) {
  if constexpr (isNarrow<T>) {
    llvm::APFloat exact(llvm::APFloat::IEEEquad());
    exact.convertFromAPInt(llvm::APInt(64, x, true), true,
                           llvm::APFloat::rmNearestTiesToEven);
    return T(exact);
  } else {
    return static_cast<T>(x);
  }
}

/// Sums and products: floats round once, integers wrap (a bool is an integer of
/// one bit).
template <typename T> T plus(T a, T b) {
  if constexpr (std::floating_point<T>)
    return a + b;
  else
    return static_cast<T>(std::same_as<T, bool> ? a ^ b
                                                : static_cast<uint64_t>(a) +
                                                      static_cast<uint64_t>(b));
}
template <typename T> T minus(T a, T b) {
  if constexpr (std::floating_point<T>)
    return a - b;
  else
    return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
template <typename T> T times(T a, T b) {
  if constexpr (std::floating_point<T>)
    return a * b;
  else
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

/// The greater: NaN if there is one; +0 is greater than -0.
template <typename T> T greater(T a, T b) {
  if constexpr (std::floating_point<T>) {
    if (std::isnan(a) || std::isnan(b))
      return std::numeric_limits<T>::quiet_NaN();
    if (a == b)
      return std::signbit(a) ? b : a;
  }
  return a > b ? a : b;
}
template <typename T> T lesser(T a, T b) {
  if constexpr (std::floating_point<T>) {
    if (std::isnan(a) || std::isnan(b))
      return std::numeric_limits<T>::quiet_NaN();
    if (a == b)
      return std::signbit(a) ? a : b;
  }
  return a < b ? a : b;
}

} // namespace tessera::lowering::reference

#endif
