// Products by fused multiply-adds, bit for bit as the contract has them.
#include "lowering/Kernels/GemmContract.h"
#include "test/Unit/Gpu/Layouts.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

using namespace tessera::lowering;
using namespace tessera::test;

namespace {

template <typename T> struct TypeName;
template <> struct TypeName<float> {
  static constexpr const char *value = "f32";
};
template <> struct TypeName<double> {
  static constexpr const char *value = "f64";
};
template <> struct TypeName<int8_t> {
  static constexpr const char *value = "i8";
};
template <> struct TypeName<int16_t> {
  static constexpr const char *value = "i16";
};
template <> struct TypeName<int32_t> {
  static constexpr const char *value = "i32";
};
template <> struct TypeName<int64_t> {
  static constexpr const char *value = "i64";
};

/// What a case computes besides the product.
enum class Fused { None, Producers, Epilogue, All };

struct Case {
  ProductText product;
  Fused fused = Fused::None;

  bool producers() const {
    return fused == Fused::Producers || fused == Fused::All;
  }
  bool epilogue() const {
    return fused == Fused::Epilogue || fused == Fused::All;
  }
};

/// x * x and -w before the product; max(c, y + c) after it.
ProductText textOf(const Case &c, const char *type) {
  ProductText text = c.product;
  text.type = type;
  if (c.producers())
    text.producers = "  %x = tessera.mul %a, %a : " + text.typeOf('a') +
                     "\n  %w = tessera.neg %b : " + text.typeOf('b') + "\n";
  std::string y = text.typeOf('y');
  if (c.epilogue())
    text.epilogue = "  %sum = tessera.add %y, %c : " + y +
                    "\n  %z = tessera.max %sum, %c : " + y + "\n";
  return text;
}

/// Integers wrap.
template <typename T> T wrapped(auto value) {
  if constexpr (std::is_floating_point_v<T>)
    return value;
  else
    return T(value);
}

template <typename T> T multiplyAdd(T x, T y, T z) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fma(x, y, z);
  else
    return T(uint64_t(x) * uint64_t(y) + uint64_t(z));
}

template <typename T> T plus(T x, T y) {
  if constexpr (std::is_floating_point_v<T>)
    return x + y;
  else
    return T(uint64_t(x) + uint64_t(y));
}

/// The contract's definition of one element.
template <typename T>
T element(const Case &c, const std::vector<T> &a, const std::vector<T> &b,
          int64_t batch, int64_t i, int64_t j) {
  const ProductText &p = c.product;
  T total = 0;
  for (int64_t begin = 0; begin < p.k; begin += kProductChunk) {
    T chain = 0;
    for (int64_t k = begin; k < std::min(begin + kProductChunk, p.k); ++k) {
      T x = a[batch * p.m * p.k + (p.transA ? k * p.m + i : i * p.k + k)];
      T w = b[batch * p.k * p.n + (p.transB ? j * p.k + k : k * p.n + j)];
      if (c.producers()) {
        x = std::is_floating_point_v<T> ? x * x : multiplyAdd<T>(x, x, 0);
        w = std::is_floating_point_v<T> ? -w : multiplyAdd<T>(w, T(-1), 0);
      }
      chain = multiplyAdd(x, w, chain);
    }
    total = begin ? plus(total, chain) : chain;
  }
  return total;
}

/// Numbers whose sums round; some whose products are too small for the type, so
/// that a sum may be -0.
template <typename T> std::vector<T> randomNumbers(size_t count, int seed) {
  std::mt19937_64 random(seed);
  std::vector<T> numbers(count);
  for (T &number : numbers) {
    if constexpr (std::is_floating_point_v<T>) {
      number = std::uniform_real_distribution<T>(-1, 1)(random);
      if (seed & 1 && random() % 8 == 0)
        number *= std::sqrt(std::numeric_limits<T>::min()) / 1e8f;
    } else {
      number = T(random());
    }
  }
  return numbers;
}

template <typename T> void check(const Case &c, uint64_t seed = 0) {
  const ProductText &p = c.product;
  ProductText text = textOf(c, TypeName<T>::value);
  SCOPED_TRACE(text.text());
  // A symbolic program is the same for every size.
  static std::pair<std::string, GpuKernel> last;
  if (last.first != text.text())
    last = {text.text(), compileProgram(text.text(), "sm_90")};
  const GpuKernel &kernel = last.second;
  ASSERT_EQ(kernel.error, "");
  int64_t batches = std::max<int64_t>(p.batch, 1);
  auto a = randomNumbers<T>(batches * p.m * p.k, 1),
       b = randomNumbers<T>(batches * p.k * p.n, 3),
       extra = randomNumbers<T>(batches * p.m * p.n, 4);
  std::vector<T> result(batches * p.m * p.n, T(77));
  std::vector<tessera::runtime::sim::Extent> buffers{bufferOf(a), bufferOf(b)};
  if (c.epilogue())
    buffers.push_back(bufferOf(extra));
  buffers.push_back(bufferOf(result));
  std::vector<int64_t> dims;
  if (p.symbol)
    dims.push_back(p.symbol == 'm'   ? p.m
                   : p.symbol == 'n' ? p.n
                   : p.symbol == 'k' ? p.k
                                     : p.batch);
  ASSERT_EQ(runKernel(kernel, buffers, dims, seed), "");
  size_t at = 0;
  for (int64_t batch = 0; batch < batches; ++batch)
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j, ++at) {
        T expected = element(c, a, b, batch, i, j);
        if (c.epilogue())
          expected = std::max(plus(expected, extra[at]), extra[at]);
        ASSERT_EQ(std::memcmp(&result[at], &expected, sizeof(T)), 0)
            << "at " << batch << ", " << i << ", " << j << ": " << +result[at]
            << ", not " << +expected;
      }
}

struct Layouts : LayoutTest {};

INSTANTIATE_TEST_SUITE_P(All, Layouts, kLayouts);

TEST_P(Layouts, wholeTiles) {
  check<float>({sizes(64, 64, 32)});
  check<double>({sizes(32, 64, 48)});
}

TEST_P(Layouts, edges) {
  check<float>({sizes(1, 1, 1)});
  check<float>({sizes(5, 3, 7)});
  check<float>({sizes(33, 65, 17)});
  check<float>({sizes(34, 38, 18)});
  check<float>({sizes(36, 68, 20)});
  check<double>({sizes(17, 66, 19)});
  check<double>({sizes(34, 30, 22)});
}

/// Of few elements each chunk is computed apart.
TEST_P(Layouts, chunksApart) {
  check<float>({sizes(7, 9, 513)});
  check<float>({sizes(4, 8, 1030), Fused::All});
  check<double>({sizes(3, 5, 1024)});
  ProductText p = sizes(20, 34, 1100);
  p.batch = 2;
  check<float>({p, Fused::All});
}

TEST_P(Layouts, chunksInTurn) {
  check<float>({sizes(264, 261, 530), Fused::Epilogue});
}

TEST(GpuGemm, chunksInTurnOfF64) { check<double>({sizes(264, 261, 530)}); }

TEST_P(Layouts, integers) {
  check<int8_t>({sizes(9, 20, 36)});
  check<int16_t>({sizes(33, 18, 17)});
  check<int32_t>({sizes(20, 36, 600)});
  check<int64_t>({sizes(12, 34, 19)});
}

TEST_P(Layouts, fused) {
  check<float>({sizes(33, 40, 20), Fused::All});
  check<float>({sizes(20, 21, 19), Fused::All});
  check<float>({sizes(64, 64, 32), Fused::Producers});
  check<double>({sizes(30, 34, 18), Fused::All});
  check<int32_t>({sizes(13, 12, 20), Fused::All});
  check<int8_t>({sizes(13, 16, 20), Fused::All});
}

TEST_P(Layouts, batches) {
  ProductText p = sizes(17, 36, 20);
  p.batch = 3;
  check<float>({p});
  check<float>({p, Fused::All});
  p.n = 5;
  check<double>({p, Fused::All});
}

/// The tiles of products with blocks enough.
TEST_P(Layouts, largeTiles) {
  check<float>({sizes(530, 516, 20), Fused::Epilogue});
  check<float>({sizes(1270, 1280, 20)});
}

TEST_P(Layouts, thinTiles) {
  check<float>({sizes(13, 4200, 20)});
  check<float>({sizes(4200, 13, 18)});
  check<double>({sizes(12, 4200, 20)});
  check<double>({sizes(4200, 14, 18)});
}

TEST(GpuGemm, largeTilesOfF64) { check<double>({sizes(1000, 900, 18)}); }

TEST_P(Layouts, symbols) {
  for (char symbol : {'m', 'n', 'k'})
    for (int64_t size : {0, 1, 33, 64}) {
      ProductText p = sizes(20, 24, 36);
      p.symbol = symbol;
      (symbol == 'm' ? p.m : symbol == 'n' ? p.n : p.k) = size;
      check<float>({p, Fused::Epilogue});
    }
  ProductText p = sizes(7, 8, 1100);
  p.symbol = 'k';
  check<float>({p});
  p = sizes(9, 12, 5);
  p.batch = 3;
  p.symbol = 'b';
  check<float>({p, Fused::Epilogue});
}

TEST(GpuGemm, nothing) {
  check<float>({sizes(0, 4, 5)});
  check<float>({sizes(4, 0, 5)});
  check<float>({sizes(4, 5, 0), Fused::All});
  check<int32_t>({sizes(4, 5, 0)});
}

/// Neither fragments nor tiles on their way meet in a bank.
TEST_P(Layouts, banks) {
  for (auto [m, n, k] : {std::tuple(64, 64, 34), std::tuple(512, 576, 16)}) {
    ProductText p = sizes(m, n, k);
    GpuKernel kernel = compileProgram(p.text(), "sm_90", /*counts=*/true);
    std::vector<float> a(m * k), b(k * n), y(m * n);
    tessera::runtime::sim::Counters counters;
    ASSERT_EQ(runKernel(kernel, {bufferOf(a), bufferOf(b), bufferOf(y)}, {}, 0,
                        &counters),
              "");
    EXPECT_EQ(counters.bankConflicts, 0) << counters.describe();
  }
}

TEST(GpuGemm, anyOrderOfThreads) {
  for (uint64_t seed : {1, 2})
    check<float>({sizes(34, 70, 70), Fused::All}, seed);
}

} // namespace
