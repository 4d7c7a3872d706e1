// The table of dtypes and what is derived from it.
#include "runtime/DType.h"

#include <gtest/gtest.h>
#include <sstream>

using namespace tessera::runtime;

static_assert(dtypeOf<bool> == DType::boolean);
static_assert(dtypeOf<long> == DType::i64 && dtypeOf<long long> == DType::i64);
static_assert(dtypeOf<unsigned char> == DType::u8);
static_assert(dtypeOf<std::complex<float>> == DType::complex64);
static_assert(!NativeElement<char> && !NativeElement<long double> &&
              !NativeElement<void *>);
static_assert(std::is_same_v<NativeType<DType::f64>, double>);
static_assert(std::is_void_v<NativeType<DType::bf16>>);

TEST(DType, namesParseBack) {
  for (const DTypeInfo &info : kDTypes)
    EXPECT_EQ(parseDType(nameOf(info.dtype)), info.dtype) << info.name;
  EXPECT_EQ(nameOf(DType::boolean), "bool");
  EXPECT_EQ(parseDType("float"), std::nullopt);
  std::ostringstream os;
  os << DType::bf16;
  EXPECT_EQ(os.str(), "bf16");
}

TEST(DType, sizesAreThoseOfTheNativeTypes) {
#define X(id, name, size, kind, type)                                          \
  if constexpr (!std::is_void_v<type>) {                                       \
    EXPECT_EQ(bytesOf(DType::id),                                              \
              sizeof(std::conditional_t<std::is_void_v<type>, char, type>));   \
  }
  TESSERA_DTYPES(X)
#undef X
}

TEST(DType, everyDTypeIsOfOneKind) {
  for (const DTypeInfo &info : kDTypes) {
    DType d = info.dtype;
    EXPECT_EQ(
        isBool(d) + isSigned(d) + isUnsigned(d) + isFloat(d) + isComplex(d), 1);
    EXPECT_EQ(isInteger(d), isSigned(d) || isUnsigned(d));
  }
}

TEST(DType, byteSizeChecksOverflow) {
  auto size = [](std::initializer_list<int64_t> shape) {
    return byteSize(std::span(shape.begin(), shape.size()), DType::f32);
  };
  EXPECT_EQ(size({}), 4u);
  EXPECT_EQ(size({2, 3}), 24u);
  EXPECT_EQ(size({int64_t(1) << 40, int64_t(1) << 40, 0}), 0u);
  EXPECT_EQ(size({-1}), std::nullopt);
  EXPECT_EQ(size({int64_t(1) << 61}), std::nullopt);
  EXPECT_EQ(size({int64_t(1) << 32, int64_t(1) << 32}), std::nullopt);
}
