// What holds for the whole process: devices, threads, memory, what is compiled.
#include <gtest/gtest.h>
#include <tessera/tessera.h>

#include <sstream>

using namespace tessera;

namespace tessera::detail {
size_t compileCount(); // frontend/Program.h, which needs LLVM's headers
}

TEST(ProcessTest, devicesHaveNames) {
  EXPECT_EQ(Device().str(), "cpu");
  EXPECT_EQ(Device("sim:sm_90").architecture(), "sm_90");
  EXPECT_EQ(Device("cuda:1").ordinal(), 1);
  std::ostringstream text;
  text << Device("reference");
  EXPECT_EQ(text.str(), "reference");
  EXPECT_THROW(Device("toaster"), std::invalid_argument);
  EXPECT_THROW(ones({2}).to(Device("cuda:1023")), DeviceError);
  EXPECT_THROW(set_default_device(Device("sim:sm_12")), DeviceError);
}

TEST(ProcessTest, theDefaultDeviceIsThatOfNewTensors) {
  set_default_device(Device("reference"));
  Tensor x = ones({2});
  set_default_device(Device("cpu"));
  EXPECT_EQ(x.device(), Device("reference"));
  EXPECT_EQ(ones({2}).device(), Device("cpu"));
  EXPECT_THROW(x + ones({2}), DeviceError);
  EXPECT_EQ((x.to(Device("cpu")) + ones({2})).to_vector<float>(),
            (std::vector<float>{2, 2}));
}

TEST(ProcessTest, anyNumberOfThreadsGivesTheSameBits) {
  Tensor x = random::normal(random::key(3), {100'000});
  set_num_threads(1);
  float one = sum(exp(x)).item<float>();
  set_num_threads(3);
  EXPECT_EQ(sum(exp(x)).item<float>(), one);
  set_num_threads(2);
  EXPECT_THROW(set_num_threads(0), ValueError);
}

TEST(ProcessTest, memoryIsCountedAndUsedAgain) {
  MemoryStats before = memory_stats();
  {
    Tensor x = Tensor::from(std::vector<float>(1 << 20), {1 << 20});
    EXPECT_GE(memory_stats().in_use, before.in_use + (4 << 20));
    EXPECT_GE(memory_stats().peak, before.in_use + (4 << 20));
  }
  EXPECT_LT(memory_stats().in_use, before.in_use + (4 << 20));
  uint64_t reused = memory_stats().reused;
  Tensor y = Tensor::from(std::vector<float>(1 << 20), {1 << 20});
  EXPECT_GT(memory_stats().reused, reused);
  EXPECT_EQ(memory_stats(Device("reference")).in_use, memory_stats().in_use);
  EXPECT_THROW(memory_stats(Device("cuda:1023")), DeviceError);
}

TEST(ProcessTest, aClearedCacheIsFilledAgain) {
  auto f = [] { return (ones({7}) * 3.f).to_vector<float>(); };
  f();
  size_t before = detail::compileCount();
  f();
  EXPECT_EQ(detail::compileCount(), before);
  clear_cache();
  EXPECT_EQ(f(), std::vector<float>(7, 3));
  EXPECT_EQ(detail::compileCount(), before + 1);
}

// A learning rate is a number beside the program.
TEST(ProcessTest, ALazyScheduleIsOneCompile) {
  Tensor w = ones({8}).eval(), x = random::normal(random::key(1), {8}).eval();
  auto step = [&](float rate) {
    Tensor loss = sum(square(w - x));
    w = w - rate * grad(loss, w);
    w.eval();
  };
  step(0.1f);
  size_t before = detail::compileCount();
  for (int i = 0; i < 2000; ++i)
    step(0.1f / float(1 + i));
  EXPECT_EQ(detail::compileCount(), before);
}

TEST(ProcessTest, ACompiledScheduleIsOneCompile) {
  nn::Linear model(4, 1);
  optim::Adam adam({.lr = 1e-2f});
  auto step = jit([&](Tensor x, Tensor rate) {
    auto [loss, grads] = value_and_grad(
        [&](nn::Linear &m) { return mean(square(m(x))); })(model);
    adam.lr = rate;
    adam.step(model, grads);
    return loss;
  });
  Tensor x = random::normal(random::key(2), {5, 4}).eval();
  step(x, 0.1f);
  size_t before = detail::compileCount();
  for (int i = 0; i < 2000; ++i)
    step(x, 0.1f / float(1 + i));
  EXPECT_EQ(detail::compileCount(), before);
}
