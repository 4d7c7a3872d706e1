// f16 and bf16 on compiled code: every number of them, every place where the
// rounding turns, and programs that are trained in them.
#include <gtest/gtest.h>
#include <tessera/tessera.h>

#include <cmath>
#include <cstring>

using namespace tessera;

namespace {

template <typename T> Tensor vectorOf(const std::vector<T> &values) {
  return Tensor::from(values, {int64_t(values.size())});
}

/// All finite numbers of a dtype that are not negative, increasing, as f64.
std::vector<double> numbersOf(DType dtype) {
  int significant = dtype == f16 ? 10 : 7, least = dtype == f16 ? -14 : -126,
      most = dtype == f16 ? 15 : 127;
  std::vector<double> numbers;
  for (int64_t m = 0; m < 1 << significant; ++m) // denormals
    numbers.push_back(std::ldexp(double(m), least - significant));
  for (int exponent = least; exponent <= most; ++exponent)
    for (int64_t m = 1 << significant; m < 2 << significant; ++m)
      numbers.push_back(std::ldexp(double(m), exponent - significant));
  return numbers;
}

/// Each number, the middle between it and the next, and what lies next to the
/// middle on both sides in `T`; with both signs. What they round to comes
/// along.
template <typename T>
void turningPoints(DType dtype, std::vector<T> &inputs,
                   std::vector<double> &expected) {
  std::vector<double> numbers = numbersOf(dtype);
  double beyond = 2 * numbers.back() - numbers[numbers.size() - 2];
  auto add = [&](T input, double result) {
    for (int sign : {1, -1}) {
      inputs.push_back(T(sign) * input);
      expected.push_back(sign * result);
    }
  };
  for (size_t i = 0; i < numbers.size(); ++i) {
    double low = numbers[i];
    bool isLast = i + 1 == numbers.size();
    double high = isLast ? INFINITY : numbers[i + 1];
    T middle = T((low + (isLast ? beyond : high)) / 2);
    add(T(low), low);
    add(std::nextafter(middle, T(0)), low);
    add(middle, i % 2 == 0 ? low : high); // to even
    add(std::nextafter(middle, T(INFINITY)), high);
  }
}

template <typename T> void checkRounding(DType dtype) {
  std::vector<T> inputs;
  std::vector<double> expected;
  turningPoints(dtype, inputs, expected);
  Tensor x = vectorOf(inputs);
  auto rounded = jit([&](Tensor v) { return v.astype(dtype).astype(f64); });
  std::vector<double> actual = rounded(x).template to_vector<double>();
  ASSERT_EQ(actual.size(), expected.size());
  size_t wrong = 0;
  for (size_t i = 0; i < expected.size() && wrong < 5; ++i)
    if (std::memcmp(&actual[i], &expected[i], 8) != 0) {
      ++wrong;
      ADD_FAILURE() << dtype << " of " << std::hexfloat << inputs[i] << " is "
                    << actual[i] << ", and not " << expected[i];
    }
}

} // namespace

TEST(NarrowTest, everyNumberAndTurningPoint) {
  for (DType dtype : {f16, bf16}) {
    checkRounding<float>(dtype);
    checkRounding<double>(dtype);
  }
}

TEST(NarrowTest, integersRoundOnce) {
  std::vector<int64_t> inputs{0, 1, -1, 2049, -2051, 65519, 65520, 257, 259};
  for (int shift = 8; shift < 63; ++shift)
    for (int64_t more : {-1, 0, 1})
      for (int64_t sign : {1, -1}) {
        int64_t half = int64_t(1) << (shift - 8); // of a step of bf16 there
        inputs.push_back(sign * ((int64_t(1) << shift) + half + more));
        inputs.push_back(sign * ((int64_t(1) << shift) + 3 * half + more));
      }
  inputs.push_back(INT64_MAX);
  inputs.push_back(INT64_MIN);
  for (DType dtype : {f16, bf16}) {
    Tensor x = vectorOf(inputs);
    auto convert = jit([&](Tensor v) { return v.astype(dtype).astype(f64); });
    std::vector<double> actual = convert(x).to_vector<double>();
    set_default_device(Device("reference"));
    std::vector<double> expected =
        vectorOf(inputs).astype(dtype).astype(f64).to_vector<double>();
    set_default_device(Device("cpu"));
    for (size_t i = 0; i < inputs.size(); ++i)
      EXPECT_EQ(actual[i], expected[i]) << dtype << " of " << inputs[i];
  }
}

TEST(NarrowTest, noNumbers) {
  for (DType dtype : {f16, bf16}) {
    auto through = jit([&](Tensor v) { return v.astype(dtype).astype(f32); });
    float payload;
    uint32_t bits = 0x7f800001; // a NaN that is lost if bits are cut off
    std::memcpy(&payload, &bits, 4);
    std::vector<float> values =
        through(tensor({NAN, payload, INFINITY, -INFINITY, -0.f}))
            .to_vector<float>();
    EXPECT_TRUE(std::isnan(values[0]) && std::isnan(values[1]));
    EXPECT_EQ(values[2], INFINITY);
    EXPECT_EQ(values[3], -INFINITY);
    EXPECT_TRUE(values[4] == 0 && std::signbit(values[4]));
  }
}

TEST(NarrowTest, trainsAndFusesToTheSameBits) {
  for (DType dtype : {f16, bf16}) {
    Tensor x = random::normal(random::key(1), {33, 8}).astype(dtype);
    Tensor w = random::normal(random::key(2), {8, 5}).astype(dtype);
    auto loss = [&](Tensor v) {
      return sum(square(tanh(matmul(x, v)) * 0.5f));
    };
    auto step = [&](Tensor v) { return v - 0.01f * grad(loss)(v); };
    Tensor eager = w, compiled = w;
    auto fast = jit(step);
    float before = loss(w).astype(f32).item<float>();
    for (int i = 0; i < 5; ++i) {
      eager = step(eager).eval();
      compiled = fast(compiled);
    }
    EXPECT_EQ(eager.dtype(), dtype);
    EXPECT_EQ(eager.astype(f32).to_vector<float>(),
              compiled.astype(f32).to_vector<float>());
    EXPECT_LT(loss(compiled).astype(f32).item<float>(), before);
  }
}
