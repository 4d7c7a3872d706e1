// Products of f32 on tensor cores: each element is the sum in f32 of the exact
// products of operands that are rounded to tf32.
#include "test/Unit/Gpu/Layouts.h"
#include <bit>
#include <cmath>
#include <random>

using namespace tessera::test;

namespace {

/// To 11 significant bits, ties away from zero.
float rounded(float value) {
  return std::bit_cast<float>((std::bit_cast<uint32_t>(value) + 0x1000) &
                              ~0x1fffu);
}

struct Operands {
  std::vector<float> a, b;
};

/// Numbers with all the bits of f32, of either sign.
Operands operandsOf(const ProductText &p) {
  std::mt19937 random(7);
  auto fill = [&](std::vector<float> &values, int64_t count) {
    values.resize(std::max<int64_t>(p.batch, 1) * count);
    for (float &value : values)
      value = std::ldexp(float(int32_t(random())), -31);
  };
  Operands operands;
  fill(operands.a, p.m * p.k);
  fill(operands.b, p.k * p.n);
  return operands;
}

/// An element of the operands as they are, and as they are rounded, and the sum
/// of its products' magnitudes.
struct Element {
  double exact = 0, rounded = 0, magnitudes = 0;

  /// Of a sum in f32, which may be cut off.
  double bound(int64_t k) const { return double(k) * 0x1p-23 * magnitudes; }
};
Element elementOf(const ProductText &p, const Operands &operands, int64_t batch,
                  int64_t i, int64_t j) {
  Element element;
  const float *a = &operands.a[batch * p.m * p.k],
              *b = &operands.b[batch * p.k * p.n];
  for (int64_t k = 0; k < p.k; ++k) {
    float x = a[p.transA ? k * p.m + i : i * p.k + k],
          w = b[p.transB ? j * p.k + k : k * p.n + j];
    element.exact += double(x) * w;
    element.rounded += double(rounded(x)) * rounded(w);
    element.magnitudes += std::fabs(double(x) * w);
  }
  return element;
}

std::vector<float> run(const ProductText &p, const std::string &arch,
                       Operands &operands, std::vector<float> *extra = nullptr,
                       std::vector<int64_t> dims = {}) {
  std::vector<float> result(std::max<int64_t>(p.batch, 1) * p.m * p.n, 99);
  GpuKernel kernel =
      compileProgram(p.text(), arch, /*counts=*/false, /*tf32=*/true);
  std::vector<tessera::runtime::sim::Extent> buffers{bufferOf(operands.a),
                                                     bufferOf(operands.b)};
  if (extra)
    buffers.push_back(bufferOf(*extra));
  buffers.push_back(bufferOf(result));
  EXPECT_EQ(runKernel(kernel, buffers, std::move(dims)), "") << p.text();
  return result;
}

/// The producer, if there is one, is neg.
void check(const ProductText &p, const std::string &arch = "sm_80",
           std::vector<int64_t> dims = {}) {
  SCOPED_TRACE(p.text());
  Operands operands = operandsOf(p);
  auto result = run(p, arch, operands, nullptr, std::move(dims));
  double sign = p.producers.empty() ? 1 : -1;
  size_t at = 0;
  for (int64_t batch = 0; batch < std::max<int64_t>(p.batch, 1); ++batch)
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j, ++at) {
        Element element = elementOf(p, operands, batch, i, j);
        double sum = element.bound(p.k);
        ASSERT_NEAR(result[at], sign * element.rounded, sum)
            << "at " << batch << ", " << i << ", " << j;
        // What the documents promise.
        ASSERT_NEAR(result[at], sign * element.exact,
                    0x1.01p-10 * element.magnitudes + sum);
      }
}

struct Tf32 : LayoutTest {};

INSTANTIATE_TEST_SUITE_P(All, Tf32, kLayouts);

TEST_P(Tf32, copies) {
  check(sizes(32, 32, 64));
  check(sizes(40, 24, 200), "sm_90");
  check(sizes(16, 136, 40), "sm_120");
}

TEST_P(Tf32, edges) {
  check(sizes(1, 1, 1));
  check(sizes(33, 70, 37));
  check(sizes(34, 30, 18));
  check(sizes(20, 52, 44));
  check(sizes(5, 64, 8));
}

TEST_P(Tf32, thinTiles) {
  check(sizes(16, 8200, 20));
  check(sizes(8200, 13, 20));
}

TEST_P(Tf32, largeTiles) {
  check(sizes(520, 528, 24));
  check(sizes(1016, 1096, 12));
}

TEST_P(Tf32, computedOperands) {
  ProductText p = sizes(40, 40, 40);
  p.producers = "  %x = tessera.neg %a : " + p.typeOf('a') + "\n";
  check(p);
  p = sizes(35, 35, 35);
  p.producers = "  %w = tessera.neg %b : " + p.typeOf('b') + "\n";
  check(p);
}

TEST_P(Tf32, batches) {
  ProductText p = sizes(24, 40, 16);
  p.batch = 3;
  check(p);
}

TEST_P(Tf32, symbolicSizes) {
  for (char symbol : {'m', 'n', 'k'}) {
    ProductText p = sizes(37, 41, 50);
    p.symbol = symbol;
    check(p, "sm_80", {symbol == 'm' ? p.m : symbol == 'n' ? p.n : p.k});
  }
}

/// Neither fragments nor tiles on their way meet in a bank.
TEST_P(Tf32, banks) {
  for (auto [m, n] : {std::pair(32, 32), std::pair(64, 64), std::pair(512, 576),
                      std::pair(16, 8192)}) {
    ProductText p = sizes(m, n, 32);
    GpuKernel kernel =
        compileProgram(p.text(), "sm_90", /*counts=*/true, /*tf32=*/true);
    std::vector<float> a(m * p.k), b(p.k * n), y(m * n);
    tessera::runtime::sim::Counters counters;
    ASSERT_EQ(runKernel(kernel, {bufferOf(a), bufferOf(b), bufferOf(y)}, {}, 0,
                        &counters),
              "");
    EXPECT_EQ(counters.bankConflicts, 0) << p.text() << counters.describe();
  }
}

/// y + c and its maximum with c, in f32.
TEST(GpuTf32, epilogue) {
  ProductText p;
  p.m = 24, p.n = 34, p.k = 48;
  std::string y = p.typeOf('y');
  p.epilogue = "  %sum = tessera.add %y, %c : " + y +
               "\n  %z = tessera.max %sum, %c : " + y + "\n";
  Operands operands = operandsOf(p);
  std::vector<float> extra(p.m * p.n);
  for (size_t i = 0; i < extra.size(); ++i)
    extra[i] = float(i % 7);
  auto result = run(p, "sm_90", operands, &extra);
  for (int64_t i = 0; i < p.m; ++i)
    for (int64_t j = 0; j < p.n; ++j) {
      Element element = elementOf(p, operands, 0, i, j);
      double c = extra[i * p.n + j];
      ASSERT_NEAR(result[i * p.n + j], std::max(element.rounded + c, c),
                  element.bound(p.k) + 0x1p-20);
    }
}

/// Where there is no tf32, nothing is rounded.
TEST(GpuTf32, olderGpus) {
  ProductText p;
  p.m = 24, p.n = 34, p.k = 48;
  Operands operands = operandsOf(p);
  auto result = run(p, "sm_75", operands);
  for (int64_t i = 0; i < p.m; ++i)
    for (int64_t j = 0; j < p.n; ++j) {
      Element element = elementOf(p, operands, 0, i, j);
      ASSERT_NEAR(result[i * p.n + j], element.exact, element.bound(p.k));
    }
}

} // namespace
