// Training on a GPU: the same bits as on the CPU.
#include "test/Unit/Frontend/Training.h"
#include "test/Cuda/Programs/Support.h"

namespace tessera::test {

namespace {

TEST_F(CudaProgramTest, trainingGivesTheBitsOfTheCpu) {
  std::vector<float> expected = train(Device(), true);
  EXPECT_EQ(train(kCuda, true), expected);
  EXPECT_EQ(train(kCuda, false), expected);
}

TEST_F(CudaProgramTest, aCallIsOneGraphThatIsRecordedOnce) {
  set_default_device(kCuda);
  auto program = jit([](Tensor x) { return softmax(x * 2.f, -1) + mean(x); });
  Tensor x = random::normal(random::key(1), {8, 9});
  program(x).eval();
  size_t recorded = callsOf("cuGraphInstantiateWithFlags"),
         launched = callsOf("cuGraphLaunch");
  for (int i = 0; i < 5; ++i)
    x = program(x);
  EXPECT_EQ(callsOf("cuGraphInstantiateWithFlags"), recorded);
  EXPECT_EQ(callsOf("cuGraphLaunch"), launched + 5);
  EXPECT_EQ(callsOf("cuLaunchKernel"), 0u);
  x.to_vector<float>();
}

TEST_F(CudaProgramTest, kernelsAreLoadedOnce) {
  set_default_device(kCuda);
  Tensor x = random::normal(random::key(1), {7, 11}).eval();
  auto one = jit([](Tensor x) { return exp(x) - 3.f; });
  Tensor a = one(x);
  size_t loaded = callsOf("cuModuleLoadDataEx");
  auto other = jit([](Tensor x) { return exp(x) - 3.f; });
  EXPECT_EQ(other(x).to_vector<float>(), a.to_vector<float>());
  EXPECT_EQ(callsOf("cuModuleLoadDataEx"), loaded);
}

TEST_F(CudaProgramTest, aResultOfACallFeedsTheNextWithoutWaiting) {
  set_default_device(kCuda);
  auto program = jit([](Tensor x) { return x * 2.f; });
  Tensor x = ones({5});
  x = program(x.eval());
  size_t waits = callsOf("cuStreamSynchronize") + callsOf("cuCtxSynchronize");
  for (int i = 0; i < 4; ++i)
    x = program(x);
  EXPECT_EQ(callsOf("cuStreamSynchronize") + callsOf("cuCtxSynchronize"),
            waits);
  EXPECT_EQ(x.to_vector<float>(), Floats(5, 32.f));
}

TEST_F(CudaProgramTest, oneSymbolicProgramForAllBatches) {
  auto f = [](Tensor x) { return softmax(x * 2.f, -1) + mean(x); };
  auto program = jit(f, {.symbolic = true});
  for (int64_t batch : {3, 1, 40}) {
    Tensor x = random::normal(random::key(7), {batch, 21});
    Tensor actual = program(x.to(kCuda));
    EXPECT_EQ(actual.device(), kCuda);
    EXPECT_EQ(actual.to_vector<float>(), f(x).to_vector<float>());
  }
}

TEST_F(CudaProgramTest, aDonatedArgumentsMemoryIsTaken) {
  set_default_device(kCuda);
  auto program = jit([](Tensor x) { return x * 3.f; }, {.donate = {0}});
  Tensor x = ones({1000});
  x.eval();
  size_t before = memory_stats(kCuda).in_use;
  Tensor y = program(x);
  EXPECT_EQ(memory_stats(kCuda).in_use, before);
  EXPECT_THROW(x.to_vector<float>(), Error);
  EXPECT_EQ(y.to_vector<float>(), std::vector<float>(1000, 3.f));
}

} // namespace

} // namespace tessera::test
