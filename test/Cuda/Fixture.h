// What the tests of the CUDA runtime share: a clean driver, and kernels.
#pragma once

#include "runtime/cuda/Allocator.h"
#include "runtime/cuda/Graph.h"
#include "runtime/cuda/Module.h"
#include "runtime/cuda/Staging.h"
#include "test/Cuda/TestDriver.h"

#include <gtest/gtest.h>
#include <numeric>

namespace tessera::test {

using namespace runtime::cuda;

// Two kernels over f32 buffers of n elements.
inline constexpr const char *kPtx = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry add_one(
	.param .u64 .ptr .align 4 add_one_param_0,
	.param .u32 add_one_param_1
)
{ ret; }
.visible .entry axpy(
	.param .u64 .ptr .align 4 axpy_param_0,
	.param .u64 .ptr .align 4 axpy_param_1,
	.param .f32 axpy_param_2,
	.param .u32 axpy_param_3
)
{ ret; }
)";

inline Result runKernel(const TestLaunch &launch) {
  if (launch.kernel == "add_one") {
    auto *x = launch.argument<float *>(0);
    for (unsigned i = 0; i < launch.argument<unsigned>(1); ++i)
      x[i] += 1;
    return Result::Success;
  }
  auto *x = launch.argument<float *>(0), *y = launch.argument<float *>(1);
  for (unsigned i = 0; i < launch.argument<unsigned>(3); ++i)
    y[i] += launch.argument<float>(2) * x[i];
  return Result::Success;
}

inline uint64_t cell(float value) {
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  return bits;
}

inline Launch addOne(const Kernel &kernel, const Memory &x) {
  return {
      &kernel, {1, 1, 1}, {128, 1, 1}, 0, {x.get(), x.bytes() / sizeof(float)}};
}

inline Launch axpy(const Kernel &kernel, float a, const Memory &x,
                   const Memory &y) {
  return {&kernel,
          {1, 1, 1},
          {128, 1, 1},
          0,
          {x.get(), y.get(), cell(a), x.bytes() / sizeof(float)}};
}

inline std::vector<float> numbers(size_t count, float first = 0) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

inline void upload(const Memory &to, const std::vector<float> &values,
                   Stream &stream) {
  stream.gpu().staging().upload(to.get(), values.data(), values.size() * 4,
                                stream);
}

inline std::vector<float> download(const Memory &from, Stream &stream) {
  std::vector<float> values(from.bytes() / 4);
  stream.gpu().staging().download(values.data(), from.get(), from.bytes(),
                                  stream);
  return values;
}

// The text and the fault of what `body` throws.
template <typename Body> std::pair<std::string, Fault> errorOf(Body body) {
  try {
    body();
  } catch (const DeviceError &error) {
    return {error.what(), error.fault()};
  } catch (const std::exception &error) {
    return {error.what(), Fault::Other};
  }
  ADD_FAILURE() << "nothing is thrown";
  return {"", Fault::Other};
}

inline void expectHas(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos)
      << "'" << part << "' is not in: " << text;
}

// Each test begins with two new GPUs, and ends with nothing alive and nothing
// done wrong.
struct CudaTest : testing::Test {
  void SetUp() override {
    resetDriver({{.name = "Test GPU 0"}, {.name = "Test GPU 1"}});
    onLaunch(runKernel);
  }
  void TearDown() override {
    for (const std::string &text : violations())
      ADD_FAILURE() << text;
    if (checkAlive)
      for (const std::string &text : alive())
        ADD_FAILURE() << "alive at the end: " << text;
    EXPECT_TRUE(allFailed());
  }
  bool checkAlive = true;
};

} // namespace tessera::test
