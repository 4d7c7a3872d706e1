// Expanded math functions: accuracy, special values, the same bits at every
// width, and no calls.
#include "MathKernel.h"
#include "Oracle.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <sstream>

using namespace tessera::lowering;
using namespace tessera::test;

namespace {

/// Baseline x86-64 has neither FMA nor the rounding instruction.
TargetInfo baseline() { return llvm::cantFail(targetFor("x86-64")); }

template <typename T> bool sameBits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0 ||
         (std::isnan(a) && std::isnan(b));
}

template <typename T> struct Operands {
  std::vector<T> x, y;
};

template <typename T>
std::vector<T> apply(const MathKernel &kernel, const Operands<T> &in) {
  std::vector<T> out(in.x.size());
  for (size_t at = 0; at < out.size(); at += kMaxElements) {
    int64_t n = std::min<int64_t>(kMaxElements, out.size() - at);
    kernel.run(&in.x[at], in.y.empty() ? nullptr : &in.y[at], &out[at], n);
  }
  return out;
}

/// Pairs for powf: every special value with every other, results across the
/// whole range, bases near one, and integer exponents.
template <typename T> Operands<T> samplePairs() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> special = {0,
                            Limits::denorm_min(),
                            Limits::min(),
                            T(0.3),
                            T(0.5),
                            1 - Limits::epsilon() / 2,
                            1,
                            1 + Limits::epsilon(),
                            T(1.5),
                            2,
                            T(2.5),
                            3,
                            4,
                            5,
                            16,
                            17,
                            T(1e6),
                            T(8388607),
                            T(8388608.5),
                            T(16777215),
                            T(16777216),
                            T(4503599627370497.5),
                            T(9007199254740991.0),
                            T(9007199254740992.0),
                            Limits::max(),
                            Limits::infinity(),
                            Limits::quiet_NaN(),
                            T(std::nan("12345")),
                            T(std::nan("0x7ffffffffff"))};
  for (size_t i = 0, n = special.size(); i < n; ++i)
    special.push_back(-special[i]);
  Operands<T> in;
  for (T x : special)
    for (T y : special)
      in.x.push_back(x), in.y.push_back(y);
  std::mt19937_64 random(99);
  std::uniform_real_distribution<double> unit(-1, 1);
  double range = Limits::max_exponent + Limits::digits + 2;
  for (int i = 0; i < 150000; ++i) {
    double log2x = unit(random) *
                   (i % 3 ? Limits::max_exponent : std::ldexp(1.0, -(i % 40)));
    T x = T(std::exp2(log2x)), y = T(range * unit(random) / log2x);
    if (i % 5 == 0)
      y = std::round(y), x = -x;
    in.x.push_back(x), in.y.push_back(y);
  }
  return in;
}

template <typename T> Operands<T> operandsFor(const MathKernelSpec &spec) {
  Operands<T> in;
  if (spec.isBinary())
    in = samplePairs<T>();
  else
    in.x = sampleOperands<T>(sizeof(T) == 4 ? 400 : 60, 20);
  size_t padded = (in.x.size() + 63) / 64 * 64;
  in.x.resize(padded, T(1));
  if (spec.isBinary())
    in.y.resize(padded, T(1));
  return in;
}

template <typename T>
void checkAccuracy(const std::string &op, const TargetInfo &target,
                   double limit, std::vector<int64_t> widths) {
  MathKernelSpec spec{op, sizeof(T) == 4 ? "f32" : "f64", 8};
  Operands<T> in = operandsFor<T>(spec);
  std::vector<T> out = apply(compileMath(spec, target), in);
  double worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    long double y = spec.isBinary() ? in.y[i] : 0;
    long double want =
        sizeof(T) == 4 ? (long double)fastReferenceOf(op)(in.x[i], double(y))
                       : referenceOf(op)(in.x[i], y);
    double error = ulpError(out[i], want);
    if (error > worst)
      worst = error, where = i;
  }
  std::ostringstream place;
  place << std::hexfloat << op << "(" << in.x[where];
  if (spec.isBinary())
    place << ", " << in.y[where];
  place << ") = " << out[where];
  EXPECT_LE(worst, limit) << place.str() << " on " << spec.element << " "
                          << target.cpu;
  testing::Test::RecordProperty(op + "_" + spec.element, std::to_string(worst));

  for (int64_t width : widths) {
    MathKernelSpec other{op, spec.element, width};
    Operands<T> same = in;
    size_t n = width == 3 ? in.x.size() / 192 * 192 : in.x.size();
    same.x.resize(n), same.y.resize(spec.isBinary() ? n : 0);
    std::vector<T> again;
    if (width == 3) { // pieces of kMaxElements are no multiple of 3
      again.resize(n);
      MathKernel kernel = compileMath(other, target);
      for (size_t at = 0; at < n; at += 192)
        kernel.run(&same.x[at], spec.isBinary() ? &same.y[at] : nullptr,
                   &again[at], 192);
    } else {
      again = apply(compileMath(other, target), same);
    }
    size_t differ = 0;
    for (size_t i = 0; i < n; ++i)
      differ += !sameBits(out[i], again[i]);
    EXPECT_EQ(differ, 0u) << op << " " << spec.element << " at width " << width
                          << " on " << target.cpu;
  }
}

class ExpandMath : public testing::TestWithParam<const char *> {};

TEST_P(ExpandMath, F32) {
  checkAccuracy<float>(GetParam(), hostTarget(), 1.5, {0, 1, 3, 4, 16});
}
TEST_P(ExpandMath, F64) {
  checkAccuracy<double>(GetParam(), hostTarget(), 1.5, {0, 1, 3, 4, 16});
}
TEST_P(ExpandMath, F32WithoutFMA) {
  checkAccuracy<float>(GetParam(), baseline(), 1.5, {0, 16});
}
TEST_P(ExpandMath, F64WithoutFMA) {
  checkAccuracy<double>(GetParam(), baseline(), 1.5, {0, 16});
}

TEST_P(ExpandMath, NoCallOnAnyTarget) {
  for (const char *cpu : {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"})
    for (const char *element : {"f32", "f64"})
      for (int64_t width : {0, 16}) {
        std::istringstream lines(mathAssembly({GetParam(), element, width},
                                              llvm::cantFail(targetFor(cpu))));
        for (std::string line; std::getline(lines, line);)
          EXPECT_FALSE(line.find("\tcall") == 0 &&
                       line.find("math.body") == std::string::npos &&
                       line.find("tessera.angle") == std::string::npos)
              << line << " in " << GetParam() << " " << element << " x" << width
              << " for " << cpu;
      }
}

INSTANTIATE_TEST_SUITE_P(Functions, ExpandMath,
                         testing::Values("exp", "exp2", "expm1", "log", "log2",
                                         "log10", "log1p", "tanh", "rsqrt",
                                         "erf", "sin", "cos", "powf", "floor",
                                         "ceil", "trunc", "round", "roundeven"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

} // namespace
