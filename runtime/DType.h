// The element types of tensors: one table, and what is derived from it.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <ostream>
#include <span>
#include <string_view>
#include <type_traits>

namespace tessera::runtime {

enum class DTypeKind : uint8_t { Bool, Signed, Unsigned, Float, Complex };

// X(enumerator, printed name, bytes, kind, C++ type or void). A bool is a byte
// that is 0 or 1.
#define TESSERA_DTYPES(X)                                                      \
  X(boolean, "bool", 1, Bool, bool)                                            \
  X(i8, "i8", 1, Signed, int8_t)                                               \
  X(i16, "i16", 2, Signed, int16_t)                                            \
  X(i32, "i32", 4, Signed, int32_t)                                            \
  X(i64, "i64", 8, Signed, int64_t)                                            \
  X(u8, "u8", 1, Unsigned, uint8_t)                                            \
  X(u16, "u16", 2, Unsigned, uint16_t)                                         \
  X(u32, "u32", 4, Unsigned, uint32_t)                                         \
  X(u64, "u64", 8, Unsigned, uint64_t)                                         \
  X(f16, "f16", 2, Float, void)                                                \
  X(bf16, "bf16", 2, Float, void)                                              \
  X(f32, "f32", 4, Float, float)                                               \
  X(f64, "f64", 8, Float, double)                                              \
  X(complex64, "complex64", 8, Complex, std::complex<float>)                   \
  X(complex128, "complex128", 16, Complex, std::complex<double>)

enum class DType : uint8_t {
#define X(id, name, bytes, kind, type) id,
  TESSERA_DTYPES(X)
#undef X
};

struct DTypeInfo {
  DType dtype;
  std::string_view name;
  uint8_t bytes;
  DTypeKind kind;
};

inline constexpr DTypeInfo kDTypes[] = {
#define X(id, name, bytes, kind, type)                                         \
  {DType::id, name, bytes, DTypeKind::kind},
    TESSERA_DTYPES(X)
#undef X
};

constexpr const DTypeInfo &infoOf(DType d) { return kDTypes[size_t(d)]; }
constexpr size_t bytesOf(DType d) { return infoOf(d).bytes; }
constexpr std::string_view nameOf(DType d) { return infoOf(d).name; }
constexpr DTypeKind kindOf(DType d) { return infoOf(d).kind; }

constexpr bool isBool(DType d) { return kindOf(d) == DTypeKind::Bool; }
constexpr bool isSigned(DType d) { return kindOf(d) == DTypeKind::Signed; }
constexpr bool isUnsigned(DType d) { return kindOf(d) == DTypeKind::Unsigned; }
constexpr bool isInteger(DType d) { return isSigned(d) || isUnsigned(d); }
constexpr bool isFloat(DType d) { return kindOf(d) == DTypeKind::Float; }
constexpr bool isComplex(DType d) { return kindOf(d) == DTypeKind::Complex; }

inline std::ostream &operator<<(std::ostream &os, DType d) {
  return os << nameOf(d);
}

// The dtype printed as `name`, or nothing.
constexpr std::optional<DType> parseDType(std::string_view name) {
  for (const DTypeInfo &info : kDTypes)
    if (info.name == name)
      return info.dtype;
  return std::nullopt;
}

// NativeType<D>: the C++ type of an element; void for f16 and bf16.
template <DType D> struct NativeTypeOf;
#define X(id, name, bytes, kind, T)                                            \
  template <> struct NativeTypeOf<DType::id> {                                 \
    using type = T;                                                            \
  };
TESSERA_DTYPES(X)
#undef X
template <DType D> using NativeType = typename NativeTypeOf<D>::type;

namespace detail {
// By size and signedness, so that `long` and `long long` both are i64.
template <typename T> constexpr std::optional<DType> findDType() {
  if constexpr (std::is_same_v<T, char> || std::is_same_v<T, wchar_t> ||
                std::is_same_v<T, char8_t> || std::is_same_v<T, char16_t> ||
                std::is_same_v<T, char32_t>) {
    return std::nullopt;
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    for (const DTypeInfo &info : kDTypes)
      if (info.bytes == sizeof(T) &&
          info.kind ==
              (std::is_signed_v<T> ? DTypeKind::Signed : DTypeKind::Unsigned))
        return info.dtype;
    return std::nullopt;
  } else {
#define X(id, name, bytes, kind, U)                                            \
  if (std::is_same_v<T, U> && !std::is_void_v<T>)                              \
    return DType::id;
    TESSERA_DTYPES(X)
#undef X
    return std::nullopt;
  }
}
} // namespace detail

// A C++ type whose values are elements of some dtype.
template <typename T>
concept NativeElement = detail::findDType<T>().has_value();

template <NativeElement T>
inline constexpr DType dtypeOf = *detail::findDType<T>();

// The bytes of a dense tensor; nothing if a dimension is negative or the size
// does not fit the address space.
constexpr std::optional<size_t> byteSize(std::span<const int64_t> shape,
                                         DType dtype) {
  int64_t bytes = int64_t(bytesOf(dtype));
  bool empty = false, overflow = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return std::nullopt;
    empty |= extent == 0;
    overflow |= __builtin_mul_overflow(bytes, extent, &bytes);
  }
  if (empty)
    return size_t(0);
  return overflow ? std::nullopt : std::optional<size_t>(size_t(bytes));
}

} // namespace tessera::runtime
