// How single elements are converted and printed.
#include "frontend/Elements.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstring>

namespace tessera::detail {

static float halfToFloat(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t exponent = (bits >> 10) & 31, fraction = bits & 0x3FF;
  if (exponent == 31)
    return std::bit_cast<float>(sign | 0x7F800000 | fraction << 13);
  if (exponent == 0) {
    float magnitude = std::ldexp(float(fraction), -24);
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

namespace {
/// The storage of a 16-bit float, told apart by its dtype.
struct Half {
  uint16_t bits;
  operator float() const { return halfToFloat(bits); }
};
struct BFloat {
  uint16_t bits;
  operator float() const { return std::bit_cast<float>(uint32_t(bits) << 16); }
};
} // namespace

/// Calls f with the data as elements of their C++ type.
template <typename F> static auto withType(DType dtype, F f) {
  switch (dtype) {
  case DType::boolean:
    return f(uint8_t());
  case DType::i8:
    return f(int8_t());
  case DType::i16:
    return f(int16_t());
  case DType::i32:
    return f(int32_t());
  case DType::i64:
    return f(int64_t());
  case DType::u8:
    return f(uint8_t());
  case DType::u16:
    return f(uint16_t());
  case DType::u32:
    return f(uint32_t());
  case DType::u64:
    return f(uint64_t());
  case DType::f16:
    return f(Half());
  case DType::bf16:
    return f(BFloat());
  case DType::f32:
    return f(float());
  case DType::f64:
    return f(double());
  case DType::complex64:
    return f(std::complex<float>());
  case DType::complex128:
    return f(std::complex<double>());
  }
  __builtin_unreachable();
}

template <typename T> static T load(const void *data, int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + i * int64_t(sizeof(T)),
              sizeof(T));
  return value;
}

/// A number of the wider kind that all elements of a dtype fit.
template <typename T> static auto widen(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat>)
    return float(value);
  else
    return value;
}

bool convertElements(const void *from, DType fromType, void *to, DType toType,
                     size_t count) {
  using runtime::isComplex, runtime::isFloat, runtime::isBool;
  if (fromType == toType) {
    if (count)
      std::memcpy(to, from, count * runtime::bytesOf(toType));
    return true;
  }
  bool isHalf = toType == DType::f16 || toType == DType::bf16;
  if (isComplex(fromType) || isComplex(toType) || isBool(toType) || isHalf ||
      (isFloat(fromType) && !isFloat(toType)))
    return false;
  withType(fromType, [&](auto source) {
    withType(toType, [&](auto target) {
      using From = decltype(source);
      using To = decltype(target);
      if constexpr (std::is_arithmetic_v<To> &&
                    !std::is_same_v<From, std::complex<float>> &&
                    !std::is_same_v<From, std::complex<double>>)
        for (size_t i = 0; i < count; ++i) {
          To value = To(widen(load<From>(from, int64_t(i))));
          std::memcpy(static_cast<To *>(to) + i, &value, sizeof(To));
        }
    });
  });
  return true;
}

double elementAsDouble(const void *data, DType dtype, int64_t i) {
  return withType(dtype, [&](auto type) -> double {
    using T = decltype(type);
    if constexpr (std::is_same_v<T, std::complex<float>> ||
                  std::is_same_v<T, std::complex<double>>)
      return double(load<T>(data, i).real());
    else
      return double(widen(load<T>(data, i)));
  });
}

template <typename Number> static std::string shortest(Number value) {
  char text[40];
  auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  return std::string(text, end);
}

/// 16-bit floats to as many digits as tell their values apart.
static std::string shortestHalf(float value, int digits) {
  char text[40];
  auto end = std::to_chars(text, text + sizeof(text), value,
                           std::chars_format::general, digits)
                 .ptr;
  return std::string(text, end);
}

std::string elementText(const void *data, DType dtype, int64_t i) {
  if (dtype == DType::boolean)
    return load<uint8_t>(data, i) ? "true" : "false";
  return withType(dtype, [&](auto type) -> std::string {
    using T = decltype(type);
    T value = load<T>(data, i);
    if constexpr (std::is_same_v<T, Half>)
      return shortestHalf(value, 5);
    else if constexpr (std::is_same_v<T, BFloat>)
      return shortestHalf(value, 4);
    else if constexpr (std::is_arithmetic_v<T>)
      return shortest(value);
    else
      return shortest(value.real()) + (std::signbit(value.imag()) ? "-" : "+") +
             shortest(std::abs(value.imag())) + "i";
  });
}

} // namespace tessera::detail
