// What goes wrong with a GPU in the middle of a program: an exception with the
// user's line, and a process that goes on.
#include "test/Cuda/Programs/Support.h"

#include "tessera/Memory.h"

namespace tessera::test {

namespace {

void expectHas(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST_F(CudaProgramTest, noSuchGpu) {
  std::string text =
      errorOf<DeviceError>([] { ones({2}).to(Device("cuda:7")); });
  expectHas(text, "there is no cuda:7");
  expectHas(text, "FailureTest.cpp:");
}

TEST_F(CudaProgramTest, everyFunctionOfACallMayFail) {
  Tensor x = ones({64, 3}).to(kCuda);
  auto f = [](Tensor x) { return sum(exp(x), {0}); };
  Floats expected = f(ones({64, 3})).to_vector<float>();
  for (const char *function :
       {"cuGraphLaunch", "cuGraphInstantiateWithFlags", "cuGraphAddKernelNode",
        "cuModuleLoadDataEx", "cuModuleGetFunction", "cuMemcpyDtoHAsync_v2",
        "cuEventRecord"}) {
    clear_cache();
    failCalls(function, Result::InvalidValue);
    std::string text = errorOf<DeviceError>([&] { f(x).to_vector<float>(); });
    expectHas(text, "cuda:0");
    EXPECT_TRUE(allFailed()) << function;
    EXPECT_EQ(f(x).to_vector<float>(), expected) << function;
  }
}

TEST_F(CudaProgramTest, outOfMemory) {
  const Device small("cuda:1"); // of 8 MiB
  Tensor x = ones({1 << 20}).to(small);
  std::string text = errorOf<OutOfMemory>([&] {
    Tensor y = x + 1.f, z = y * 2.f;
    eval(y, z);
  });
  expectHas(text, "the memory of cuda:1 does not suffice");
  expectHas(text, "FailureTest.cpp:");
  EXPECT_EQ(sum(x).item<float>(), float(1 << 20));
  EXPECT_THROW(zeros({1 << 22}).to(small), OutOfMemory);
  EXPECT_EQ((ones({3}) + 1.f).to_vector<float>(), Floats({2, 2, 2}));
}

TEST_F(CudaProgramTest, theDriverHasNoMemory) {
  Tensor x = ones({3 << 18}).eval();
  // A second attempt is made without what the allocator keeps.
  failCalls("cuMemAlloc_v2", Result::OutOfMemory, 2);
  EXPECT_THROW(x.to(kCuda), OutOfMemory);
  EXPECT_EQ(sum(x.to(kCuda)).item<float>(), float(3 << 18));
}

TEST_F(CudaProgramTest, variablesKeepTheirValuesWhenACallFails) {
  set_default_device(kCuda);
  Variable count(zeros({4}).eval());
  auto step = jit([&] { count += 1.f; });
  step();
  failCalls("cuGraphLaunch", Result::InvalidValue);
  EXPECT_THROW(step(), DeviceError);
  EXPECT_EQ(count.value().to_vector<float>(), Floats({1, 1, 1, 1}));
  step();
  EXPECT_EQ(count.value().to_vector<float>(), Floats({2, 2, 2, 2}));
}

TEST_F(CudaProgramTest, aLostGpuLeavesTheOthers) {
  const Device last("cuda:2");
  Tensor x = ones({8}).to(last), y = ones({8}).to(kCuda);
  onLaunch([](const TestLaunch &) { return Result::IllegalAddress; });
  std::string text = errorOf<DeviceError>([&] { exp(x).to_vector<float>(); });
  onLaunch(nullptr);
  expectHas(text, "cuda:2 cannot be used any more");
  expectHas(text, "in the kernel \"loop_");
  expectHas(text, "FailureTest.cpp:");
  EXPECT_THROW(exp(x).to_vector<float>(), DeviceError);
  EXPECT_THROW(ones({2}).to(last), DeviceError);
  EXPECT_EQ((y + 1.f).to_vector<float>(), Floats(8, 2.f));
}

} // namespace

} // namespace tessera::test
