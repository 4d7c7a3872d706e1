// Products of narrow floats on tensor cores: of whole numbers exactly, of
// others within the bound of a sum in f32.
#include "test/Unit/Gpu/Layouts.h"
#include <bit>
#include <cmath>
#include <random>

using namespace tessera::test;

namespace {

/// Narrow floats as their bits.
struct Format {
  const char *name;
  int mantissa, bias; ///< Explicit bits of the significand; of the exponent.
};
constexpr Format kBF16{"bf16", 7, 127}, kF16{"f16", 10, 15};

/// Of a normal number, or zero.
double valueOf(uint16_t bits, Format f) {
  int exponent = (bits & 0x7fff) >> f.mantissa;
  double magnitude =
      exponent == 0 ? 0
                    : std::ldexp(1 + std::ldexp(bits & ((1 << f.mantissa) - 1),
                                                -f.mantissa),
                                 exponent - f.bias);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/// The bits of a number that the format holds.
uint16_t bitsOf(double value, Format f) {
  if (value == 0)
    return 0;
  int exponent = 0;
  double fraction = std::frexp(std::fabs(value), &exponent);
  int mantissa = int(std::ldexp(fraction * 2 - 1, f.mantissa));
  return uint16_t((value < 0 ? 0x8000 : 0) |
                  (exponent - 1 + f.bias) << f.mantissa | mantissa);
}

struct Operands {
  std::vector<uint16_t> a, b;
  std::vector<double> x, w; ///< Their values.
};

/// Whole numbers from -8 to 8, or numbers with all the bits of the format.
Operands operandsOf(const ProductText &p, Format f, bool whole) {
  std::mt19937 random(7);
  auto number = [&]() -> uint16_t {
    if (whole)
      return bitsOf(int(random() % 17) - 8, f);
    return uint16_t(bitsOf(0.5, f) | random() % (1 << f.mantissa) |
                    (random() & 1) << 15);
  };
  int64_t batches = std::max<int64_t>(p.batch, 1);
  Operands operands;
  operands.a.resize(batches * p.m * p.k);
  operands.b.resize(batches * p.k * p.n);
  for (uint16_t &bits : operands.a)
    operands.x.push_back(valueOf(bits = number(), f));
  for (uint16_t &bits : operands.b)
    operands.w.push_back(valueOf(bits = number(), f));
  return operands;
}

/// The exact element, and the sum of its products' magnitudes.
struct Exact {
  double sum = 0, magnitudes = 0;
};
Exact elementOf(const ProductText &p, const Operands &operands, int64_t batch,
                int64_t i, int64_t j) {
  Exact exact;
  const double *x = &operands.x[batch * p.m * p.k],
               *w = &operands.w[batch * p.k * p.n];
  for (int64_t k = 0; k < p.k; ++k) {
    double product = x[p.transA ? k * p.m + i : i * p.k + k] *
                     w[p.transB ? j * p.k + k : k * p.n + j];
    exact.sum += product;
    exact.magnitudes += std::fabs(product);
  }
  return exact;
}

template <typename T>
std::vector<T> run(const ProductText &p, const std::string &arch,
                   Operands &operands, std::vector<T> *extra = nullptr,
                   uint64_t seed = 0) {
  std::vector<T> result(std::max<int64_t>(p.batch, 1) * p.m * p.n, T(99));
  GpuKernel kernel = compileProgram(p.text(), arch);
  std::vector<tessera::runtime::sim::Extent> buffers{bufferOf(operands.a),
                                                     bufferOf(operands.b)};
  if (extra)
    buffers.push_back(bufferOf(*extra));
  buffers.push_back(bufferOf(result));
  EXPECT_EQ(runKernel(kernel, buffers, {}, seed), "") << p.text();
  return result;
}

/// The f32 product of whole numbers is exact. The producer, if there is one, is
/// neg.
void check(ProductText p, Format f, const std::string &arch = "sm_90",
           uint64_t seed = 0) {
  p.narrow = f.name;
  SCOPED_TRACE(p.text());
  Operands operands = operandsOf(p, f, /*whole=*/true);
  auto result = run<float>(p, arch, operands, nullptr, seed);
  double sign = p.producers.empty() ? 1 : -1;
  size_t at = 0;
  for (int64_t batch = 0; batch < std::max<int64_t>(p.batch, 1); ++batch)
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j, ++at)
        ASSERT_EQ(result[at], sign * elementOf(p, operands, batch, i, j).sum)
            << "at " << batch << ", " << i << ", " << j;
}

struct TensorCores : LayoutTest {};

INSTANTIATE_TEST_SUITE_P(All, TensorCores, kLayouts);

TEST_P(TensorCores, copies) {
  check(sizes(32, 32, 64), kBF16);
  check(sizes(40, 24, 200), kBF16);
  check(sizes(16, 136, 40), kF16);
}

TEST_P(TensorCores, edges) {
  check(sizes(1, 1, 1), kBF16);
  check(sizes(33, 70, 37), kBF16);
  check(sizes(34, 30, 18), kF16);
  check(sizes(20, 52, 44), kF16);
  check(sizes(5, 64, 8), kBF16);
}

TEST_P(TensorCores, thinTiles) {
  check(sizes(16, 8200, 40), kBF16);
  check(sizes(8200, 13, 40), kBF16);
}

TEST_P(TensorCores, withoutAsynchronousCopies) {
  check(sizes(40, 72, 72), kF16, "sm_75");
  check(sizes(9, 31, 33), kF16, "sm_75");
  check(sizes(24, 31, 40), kBF16, "sm_75"); // By multiply-adds.
}

TEST_P(TensorCores, computedOperands) {
  ProductText p = sizes(40, 40, 40);
  p.narrow = "bf16";
  p.producers = "  %x = tessera.neg %a : " + p.typeOf('a') + "\n";
  check(p, kBF16);
  p = sizes(35, 35, 35);
  p.narrow = "f16";
  p.producers = "  %w = tessera.neg %b : " + p.typeOf('b') + "\n";
  check(p, kF16);
}

TEST_P(TensorCores, batches) {
  ProductText p = sizes(24, 40, 16);
  p.batch = 3;
  check(p, kBF16);
}

/// The tiles of large products.
TEST_P(TensorCores, largeTiles) {
  check(sizes(520, 528, 40), kBF16);
  check(sizes(1016, 1096, 16), kBF16);
}

/// Neither fragments nor tiles on their way meet in a bank.
TEST_P(TensorCores, banks) {
  for (auto [m, n] : {std::pair(64, 64), std::pair(512, 576)}) {
    ProductText p = sizes(m, n, 64);
    p.narrow = "bf16";
    GpuKernel kernel = compileProgram(p.text(), "sm_90", /*counts=*/true);
    std::vector<uint16_t> a(m * p.k), b(p.k * n);
    std::vector<float> y(m * n);
    tessera::runtime::sim::Counters counters;
    ASSERT_EQ(runKernel(kernel, {bufferOf(a), bufferOf(b), bufferOf(y)}, {}, 0,
                        &counters),
              "");
    EXPECT_EQ(counters.bankConflicts, 0) << counters.describe();
  }
}

TEST(GpuTensorCores, anyOrderOfThreads) {
  ProductText p;
  p.m = 40, p.n = 72, p.k = 150;
  p.transB = true;
  for (uint64_t seed : {1, 2})
    check(p, kBF16, "sm_90", seed);
}

/// Each sum is within the bound of sums in f32, which may be cut off, and is
/// rounded once.
TEST(GpuTensorCores, roundsOnce) {
  for (Format f : {kBF16, kF16}) {
    ProductText p;
    p.m = 33, p.n = 36, p.k = 300;
    p.type = f.name;
    Operands operands = operandsOf(p, f, /*whole=*/false);
    auto result = run<uint16_t>(p, "sm_80", operands);
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j) {
        Exact exact = elementOf(p, operands, 0, i, j);
        double sum = p.k * 0x1p-23 * exact.magnitudes;
        double rounding =
            std::ldexp(std::fabs(exact.sum) + sum, -f.mantissa - 1);
        ASSERT_NEAR(valueOf(result[i * p.n + j], f), exact.sum, sum + rounding);
      }
  }
}

/// y + c and its maximum with c, in f32.
TEST(GpuTensorCores, epilogue) {
  ProductText p;
  p.m = 24, p.n = 34, p.k = 48;
  p.narrow = "bf16";
  std::string y = p.typeOf('y');
  p.epilogue = "  %sum = tessera.add %y, %c : " + y +
               "\n  %z = tessera.max %sum, %c : " + y + "\n";
  Operands operands = operandsOf(p, kBF16, /*whole=*/true);
  std::vector<float> extra(p.m * p.n);
  for (size_t i = 0; i < extra.size(); ++i)
    extra[i] = float(i % 100);
  auto result = run<float>(p, "sm_90", operands, &extra);
  for (int64_t i = 0; i < p.m; ++i)
    for (int64_t j = 0; j < p.n; ++j) {
      double c = extra[i * p.n + j];
      ASSERT_EQ(result[i * p.n + j],
                std::max(elementOf(p, operands, 0, i, j).sum + c, c));
    }
}

} // namespace
