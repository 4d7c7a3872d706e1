// Functions of single elements: values, special cases, errors.
#include "Support.h"

#include <cstdint>
#include <limits>

namespace tessera {
namespace {

using ElementwiseTest = FrontendTest;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST_F(ElementwiseTest, Arithmetic) {
  Tensor x = tensor({6.f, 8.f}), y = tensor({3.f, 2.f});
  expectValues<float>(x - y, {3, 6});
  expectValues<float>(x * y, {18, 16});
  expectValues<float>(x / y, {2, 4});
  expectValues<float>(-x, {-6, -8});
  expectValues<float>(maximum(x, 7), {7, 8});
  expectValues<float>(minimum(x, 7), {6, 7});
  expectValues<float>(clip(x, 7, none), {7, 8});
  expectValues<float>(square(y), {9, 4});
  expectValues<float>(abs(tensor({-1.f, 2.f})), {1, 2});
}

TEST_F(ElementwiseTest, IntegersDivideToFloats) {
  Tensor x = tensor({1, 7, -7}), y = tensor({2, 2, 2});
  EXPECT_EQ((x / y).dtype(), f32);
  expectValues<float>(x / y, {0.5f, 3.5f, -3.5f});
  expectValues<float>(x / 2, {0.5f, 3.5f, -3.5f});
}

TEST_F(ElementwiseTest, FloorDivisionAndRemainderAreThoseOfPython) {
  Tensor x = tensor({7, -7, 7, -7, 5}), y = tensor({2, 2, -2, -2, 0});
  expectValues<int>(floor_divide(x, y), {3, -4, -4, 3, 0});
  expectValues<int>(x % y, {1, 1, -1, -1, 0});
  Tensor a = tensor({7.5f, -7.5f}), b = tensor({2.f, 2.f});
  expectValues<float>(floor_divide(a, b), {3, -4});
  expectValues<float>(a % b, {1.5f, 0.5f});
}

TEST_F(ElementwiseTest, DivisionsOfExtremeIntegers) {
  int low = std::numeric_limits<int>::min();
  Tensor x = tensor({low, low});
  expectValues<int>(floor_divide(x, -1), {low, low});
  expectValues<int>(x % -1, {0, 0});
}

TEST_F(ElementwiseTest, Powers) {
  Tensor x = tensor({2.f, -3.f});
  expectValues<float>(pow(x, 2), {4, 9});
  expectValues<float>(pow(x, 3), {8, -27});
  expectValues<float>(pow(x, 0), {1, 1});
  expectValues<float>(pow(x, -1), {0.5f, -1.f / 3});
  expectNear(pow(tensor({2.f, 4.f}), 0.5), {std::sqrt(2), 2});
  expectNear(pow(2.f, tensor({3.f, 0.5f})), {8, std::sqrt(2)});
  expectValues<int>(pow(tensor({2, -3}), 5), {32, -243});
  EXPECT_THROW(pow(tensor({2}), -1), ValueError);
  EXPECT_THROW(pow(tensor({2}), tensor({2})), ValueError);
}

TEST_F(ElementwiseTest, FunctionsOfFloats) {
  std::vector<float> points{0.25f, 0.5f, 2.f};
  Tensor x = Tensor::from(points, {3});
  auto check = [&](Tensor (*f)(const Operand &), double (*expected)(double)) {
    std::vector<double> values;
    for (float point : points)
      values.push_back(expected(point));
    expectNear(f(x), values, 1e-6);
  };
  check(exp, std::exp);
  check(expm1, std::expm1);
  check(log, std::log);
  check(log1p, std::log1p);
  check(log2, std::log2);
  check(log10, std::log10);
  check(sqrt, std::sqrt);
  check(sin, std::sin);
  check(cos, std::cos);
  check(tan, std::tan);
  check(sinh, std::sinh);
  check(cosh, std::cosh);
  check(tanh, std::tanh);
  check(asinh, std::asinh);
  check(erf, std::erf);
  expectNear(acosh(tensor({1.f, 1.5f, 1e10f})),
             {0, std::acosh(1.5), std::acosh(1e10)}, 1e-6);
  expectNear(atanh(tensor({0.5f, -0.25f})), {std::atanh(.5), std::atanh(-.25)},
             1e-6);
  expectNear(rsqrt(x), {2, std::sqrt(2), std::sqrt(.5)}, 1e-6);
  expectNear(reciprocal(x), {4, 2, 0.5}, 1e-6);
}

TEST_F(ElementwiseTest, AccurateNearZero) {
  Tensor x = tensor({1e-10f, -1e-7f, 3e-5f});
  auto relative = [&](const Tensor &y, double (*f)(double)) {
    std::vector<double> values = y.to_vector<double>();
    std::vector<float> points = x.to_vector<float>();
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(values[i] / f(points[i]), 1, 1e-6);
  };
  relative(log1p(x), std::log1p);
  relative(expm1(x), std::expm1);
  relative(sinh(x), std::sinh);
  relative(asinh(x), std::asinh);
  relative(atanh(x), std::atanh);
}

TEST_F(ElementwiseTest, SpecialValuesOfFunctions) {
  Tensor x = tensor({kInf, -kInf, kNaN});
  expectNear(log1p(x), {kInf, kNaN, kNaN});
  expectNear(expm1(x), {kInf, -1, kNaN});
  expectNear(sinh(x), {kInf, -kInf, kNaN});
  expectNear(cosh(x), {kInf, kInf, kNaN});
  expectNear(asinh(x), {kInf, -kInf, kNaN});
  expectNear(atanh(tensor({1.f, -1.f, 2.f})), {kInf, -kInf, kNaN});
  expectNear(logaddexp(x, x), {kInf, -kInf, kNaN});
  expectNear(logaddexp(tensor({1.f, -1000.f}), tensor({2.f, -1000.f})),
             {2.3132617, -999.30685});
}

TEST_F(ElementwiseTest, Rounding) {
  Tensor x =
      tensor({-2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 1.2f, -1.2f, 1e10f});
  expectValues<float>(floor(x), {-3, -2, -1, 0, 1, 2, 1, -2, 1e10f});
  expectValues<float>(ceil(x), {-2, -1, 0, 1, 2, 3, 2, -1, 1e10f});
  expectValues<float>(trunc(x), {-2, -1, 0, 0, 1, 2, 1, -1, 1e10f});
  expectValues<float>(round(x), {-2, -2, 0, 0, 2, 2, 1, -1, 1e10f});
  expectNear(floor(tensor({kInf, kNaN})), {kInf, kNaN});
  EXPECT_EQ(floor(tensor(3)).item<int>(), 3);
}

TEST_F(ElementwiseTest, RoundingAgreesWithTheCLibrary) {
  std::vector<double> points;
  for (int i = 0; i < 4000; ++i)
    points.push_back(std::ldexp(std::sin(i) * 3, i % 60 - 4));
  for (double x : {0.0, -0.0, 0.49999999999999994, -0.49999999999999994, 0x1p52,
                   0x1p52 - 0.5, -0x1p52 + 0.5, 4503599627370495.5})
    points.push_back(x);
  Tensor x = Tensor::from(points, {int64_t(points.size())});
  auto check = [&](Tensor (*f)(const Operand &), double (*expected)(double)) {
    std::vector<double> values = f(x).to_vector<double>();
    for (size_t i = 0; i < points.size(); ++i) {
      EXPECT_EQ(values[i], expected(points[i])) << points[i];
      EXPECT_EQ(std::signbit(values[i]), std::signbit(expected(points[i])))
          << points[i];
    }
  };
  check(floor, std::floor);
  check(ceil, std::ceil);
  check(trunc, std::trunc);
  check(round, std::nearbyint);
}

TEST_F(ElementwiseTest, Signs) {
  expectNear(sign(tensor({-2.f, 0.f, 3.f, float(kNaN)})), {-1, 0, 1, kNaN});
  expectValues<int>(sign(tensor({-2, 0, 3})), {-1, 0, 1});
}

TEST_F(ElementwiseTest, Tests) {
  Tensor x = tensor({1.f, float(kInf), float(kNaN)});
  expectValues<bool>(isnan(x), {false, false, true});
  expectValues<bool>(isinf(x), {false, true, false});
  expectValues<bool>(isfinite(x), {true, false, false});
  expectValues<bool>(isfinite(tensor({1})), {true});
}

TEST_F(ElementwiseTest, Comparisons) {
  Tensor x = tensor({1, 2, 3});
  expectValues<bool>(x == 2, {false, true, false});
  expectValues<bool>(x != 2, {true, false, true});
  expectValues<bool>(x < 2, {true, false, false});
  expectValues<bool>(x <= 2, {true, true, false});
  expectValues<bool>(x > 2, {false, false, true});
  expectValues<bool>(2 >= x, {true, true, false});
  expectValues<bool>(x < 2.5, {true, true, false});
}

TEST_F(ElementwiseTest, LogicAndBits) {
  Tensor p = tensor({true, true, false}), q = tensor({true, false, false});
  expectValues<bool>(p && q, {true, false, false});
  expectValues<bool>(p || q, {true, true, false});
  expectValues<bool>(!p, {false, false, true});
  expectValues<bool>(logical_xor(p, q), {false, true, false});
  expectValues<bool>(tensor({2.f, 0.f, 1.f}) && 1, {true, false, true});
  Tensor x = tensor({12, 10}), y = tensor({10, 3});
  expectValues<int>(x & y, {8, 2});
  expectValues<int>(x | y, {14, 11});
  expectValues<int>(x ^ y, {6, 9});
  expectValues<int>(~x, {-13, -11});
  EXPECT_THROW(tensor({1.f}) & 1, TypeError);
}

TEST_F(ElementwiseTest, ShiftsAgreeWithC) {
  std::vector<int32_t> numbers{0,         1,          -1,        5,        -5,
                               123456789, -123456789, INT32_MIN, INT32_MAX};
  Tensor x = Tensor::from(numbers, {int64_t(numbers.size())});
  for (int by : {0, 1, 2, 5, 16, 30, 31}) {
    std::vector<int32_t> left, right;
    for (int32_t number : numbers) {
      left.push_back(int32_t(uint32_t(number) << by));
      right.push_back(number >> by);
    }
    expectValues<int32_t>(x << by, left);
    expectValues<int32_t>(x >> by, right);
  }
  expectValues<int32_t>(tensor({3, -3}) << 32, {0, 0});
  expectValues<int32_t>(tensor({3, -3}) >> 32, {0, -1});
}

TEST_F(ElementwiseTest, Where) {
  Tensor p = tensor({true, false});
  expectValues<float>(where(p, tensor({1.f, 2.f}), 0.f), {1, 0});
  expectValues<float>(where(p, 1.f, tensor({{5.f}, {6.f}})), {1, 5, 1, 6});
}

TEST_F(ElementwiseTest, BoolsHaveNoArithmetic) {
  EXPECT_THROW(tensor({true}) + tensor({true}), TypeError);
  EXPECT_EQ((tensor({true}) + 1).item<int>(), 2);
  EXPECT_EQ((tensor({true}) * tensor({2.f})).item<float>(), 2);
}

TEST_F(ElementwiseTest, NumbersMustFit) {
  EXPECT_THROW(tensor({1}, i8) + 300, ValueError);
  expectValues<int>(tensor({100}, i8) + 100, {-56});
}

TEST_F(ElementwiseTest, PromotionTable) {
  EXPECT_EQ(result_type(i8, i32), i32);
  EXPECT_EQ(result_type(boolean, f16), f16);
  EXPECT_EQ(result_type(i64, f32), f32);
  EXPECT_EQ(result_type(f16, bf16), f32);
  EXPECT_EQ(result_type(f16, f64), f64);
  EXPECT_THROW(result_type(u8, f32), TypeError);
  EXPECT_EQ((tensor({1}) + tensor({1.f}, f16)).dtype(), f16);
}

TEST_F(ElementwiseTest, UnsupportedDTypesAreNamed) {
  std::vector<uint8_t> bytes{1, 2};
  Tensor x = Tensor::from(bytes, {2});
  expectValues<uint8_t>(x, bytes);
  EXPECT_NE(errorOf<TypeError>([&] { x + 1; }).find("u8"), std::string::npos);
  EXPECT_THROW(exp(x), TypeError);
}

TEST_F(ElementwiseTest, Activations) {
  Tensor x = tensor({-1.f, 0.f, 2.f});
  expectValues<float>(relu(x), {0, 0, 2});
  expectNear(sigmoid(x), {0.26894142, 0.5, 0.88079708});
  expectNear(silu(x), {-0.26894142, 0, 1.76159416});
  expectNear(gelu(x), {-0.15865525, 0, 1.95449974});
  expectNear(gelu(x, true), {-0.15880801, 0, 1.95459769});
  expectNear(softplus(x), {0.31326169, 0.69314718, 2.12692801});
  expectNear(sigmoid(tensor({-100.f, 100.f})), {3.7835e-44, 1});
  expectNear(softplus(tensor({-1000.f, 1000.f})), {0, 1000});
  expectNear(relu(tensor({float(kNaN)})), {kNaN});
}

} // namespace
} // namespace tessera
