// What the tests of the front end share.
#pragma once

#include <tessera/tessera.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

namespace tessera {

/// Runs every test on the device that the environment names, by default on the
/// interpreter, so that what is tested is the front end.
class FrontendTest : public testing::Test {
protected:
  FrontendTest() {
    const char *device = std::getenv("FRONTEND_DEVICE");
    set_default_device(Device(device ? device : "reference"));
  }
  ~FrontendTest() override { set_default_device(Device("cpu")); }
};

template <typename Number>
void expectValues(const Tensor &x, const std::vector<Number> &expected) {
  EXPECT_EQ(x.to_vector<Number>(), expected);
}

inline void expectNear(const Tensor &x, const std::vector<double> &expected,
                       double tolerance = 1e-5) {
  std::vector<double> values = x.to_vector<double>();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i)
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(values[i])) << "element " << i;
    else if (std::isinf(expected[i]))
      EXPECT_EQ(values[i], expected[i]) << "element " << i;
    else
      EXPECT_NEAR(values[i], expected[i],
                  tolerance * std::max(1.0, std::abs(expected[i])))
          << "element " << i;
}

/// Runs `f`, which must throw an E, and gives its text.
template <typename E, typename F> std::string errorOf(F f) {
  try {
    f();
  } catch (const E &error) {
    return error.what();
  } catch (const std::exception &error) {
    ADD_FAILURE() << "another exception: " << error.what();
    return "";
  }
  ADD_FAILURE() << "no exception";
  return "";
}

} // namespace tessera
