// Loading of code, launches and graphs.
#include "test/Cuda/Fixture.h"

#include <thread>

using namespace tessera::test;

using CudaModuleTest = CudaTest;
using CudaGraphTest = CudaTest;

namespace {

std::string cubinFor(const std::string &arch) {
  return "CUBIN " + arch + "\n" + kPtx;
}

} // namespace

TEST_F(CudaModuleTest, launch) {
  Gpu gpu(0);
  Module module(gpu, {cubinFor("sm_90"), ""}, "kernels");
  Kernel kernel = module.kernel("axpy");
  EXPECT_EQ(kernel.registers(), 32);
  Memory x(gpu, 4000), y(gpu, 4000);
  upload(x, numbers(1000), gpu.stream());
  upload(y, numbers(1000), gpu.stream());
  launch(gpu.stream(), axpy(kernel, 2, x, y));
  auto expected = numbers(1000);
  for (float &value : expected)
    value *= 3;
  EXPECT_EQ(download(y, gpu.stream()), expected);
  launch(gpu.stream(), {.kernel = &kernel, .grid = {0, 1, 1}});
}

TEST_F(CudaModuleTest, ptxWhereTheCubinIsNotForThisGpu) {
  Gpu gpu(0);
  Module module(gpu, {cubinFor("sm_80"), kPtx}, "kernels");
  EXPECT_EQ(callsOf("cuModuleLoadDataEx"), 2u);
}

TEST_F(CudaModuleTest, wrongArchitecture) {
  Gpu gpu(0);
  auto [text, fault] = errorOf(
      [&] { Module module(gpu, {cubinFor("sm_80"), "", "sm_80"}, "softmax"); });
  EXPECT_EQ(fault, Fault::WrongArch);
  EXPECT_EQ(text, "softmax was compiled for sm_80, and cuda:0 (Test GPU 0, "
                  "sm_90) does not run that: compile it for sm_90");
}

TEST_F(CudaModuleTest, driverTooOldForThePtx) {
  resetDriver({{}}, 12000);
  Gpu gpu(0);
  gpu.driver(); // of CUDA 13.0 when it was loaded
  std::string ptx = kPtx;
  ptx.replace(ptx.find("8.0"), 3, "8.7");
  auto [text, fault] =
      errorOf([&] { Module module(gpu, {"", ptx}, "softmax"); });
  EXPECT_EQ(fault, Fault::DriverTooOld);
  expectHas(text, "is too old for the code of softmax: install a newer driver, "
                  "or NVIDIA's nvJitLink library");
}

TEST_F(CudaModuleTest, brokenCode) {
  Gpu gpu(0);
  auto [text, fault] =
      errorOf([&] { Module module(gpu, {"", "nonsense"}, "softmax"); });
  EXPECT_EQ(fault, Fault::BadCode);
  expectHas(text, "does not take the code of softmax for cuda:0 (Test GPU 0, "
                  "sm_90): ptxas: the test driver's log");
  failCalls("cuModuleLoadDataEx", Result::JitCompilerNotFound);
  auto [without, sameFault] =
      errorOf([&] { Module module(gpu, {"", kPtx}, "softmax"); });
  EXPECT_EQ(sameFault, Fault::BadCode);
  expectHas(without, "libnvidia-ptxjitcompiler.so.1");
}

TEST_F(CudaModuleTest, noSuchKernel) {
  Gpu gpu(0);
  Module module(gpu, {"", kPtx}, "kernels");
  auto [text, fault] = errorOf([&] { module.kernel("sum"); });
  EXPECT_EQ(text, "kernels has no kernel sum");
}

TEST_F(CudaModuleTest, sharedMemory) {
  Gpu gpu(0);
  std::string ptx = kPtx;
  ptx.insert(ptx.find("{ ret"), "{ .shared .align 16 .b8 tile[1024]; }");
  Module module(gpu, {"", ptx}, "kernels");
  Kernel large = module.kernel("axpy", 100 << 10);
  EXPECT_EQ(large.sharedBytes(), 1024);
  Memory x(gpu, 4), y(gpu, 4);
  Launch one = axpy(large, 1, x, y);
  one.sharedBytes = 100 << 10;
  gpu.stream().fill(x.get(), 0, 4);
  gpu.stream().fill(y.get(), 0, 4);
  launch(gpu.stream(), one);
  auto [text, fault] =
      errorOf([&] { module.kernel("axpy", 227 << 10, "train.cpp:12"); });
  EXPECT_EQ(fault, Fault::SharedMemory);
  EXPECT_EQ(text,
            "the kernel \"axpy\" (train.cpp:12) needs 233472 bytes of shared "
            "memory, and cuda:0 (sm_90) has 232448 a block: compile it for "
            "sm_90");
}

TEST_F(CudaGraphTest, recordsOnceAndChangesPointers) {
  Gpu gpu(0);
  Module module(gpu, {"", kPtx}, "kernels");
  Kernel kernel = module.kernel("add_one");
  Graph graph(gpu);
  std::vector<Memory> memories;
  for (int i = 0; i < 3; ++i)
    memories.emplace_back(gpu, 4000);
  Memory result(gpu, 4000);
  for (int round = 0; round < 6; ++round) {
    Memory &x = memories[size_t(round) % 3];
    upload(x, numbers(1000, float(round)), gpu.stream());
    Command commands[] = {Fill{result.get(), 0, 4000}, addOne(kernel, x),
                          Copy{result.get(), x.get(), 4000},
                          addOne(kernel, result)};
    graph.run(gpu.stream(), commands);
    EXPECT_EQ(download(result, gpu.stream()), numbers(1000, float(round) + 2));
  }
  EXPECT_EQ(graph.recordings(), 1u);
  EXPECT_EQ(graph.updates(), 5u * 2);
  EXPECT_EQ(callsOf("cuLaunchKernel"), 0u);
}

TEST_F(CudaGraphTest, otherCommandsAreRecordedAnew) {
  Gpu gpu(0);
  Module module(gpu, {"", kPtx}, "kernels");
  Kernel addOneKernel = module.kernel("add_one"),
         axpyKernel = module.kernel("axpy");
  Memory x(gpu, 400), y(gpu, 400);
  upload(x, numbers(100), gpu.stream());
  upload(y, numbers(100), gpu.stream());
  Graph graph(gpu);
  graph.run(gpu.stream(), {});
  Command one[] = {addOne(addOneKernel, x)};
  Command two[] = {axpy(axpyKernel, 1, x, y)};
  Command three[] = {axpy(axpyKernel, 1, x, y), addOne(addOneKernel, y)};
  Command four[] = {axpy(axpyKernel, 1, x, y), Fill{x.get(), 0, 400}};
  Command five[] = {axpy(axpyKernel, 3, x, y), Fill{x.get(), 1, 400}};
  for (std::span<const Command> commands :
       {std::span<const Command>(one), std::span<const Command>(two),
        std::span<const Command>(three), std::span<const Command>(four),
        std::span<const Command>(five)})
    graph.run(gpu.stream(), commands);
  EXPECT_EQ(graph.recordings(), 4u);
  EXPECT_EQ(graph.updates(), 2u);
  gpu.stream().synchronize();
}

// One by one and as a graph: the same.
TEST_F(CudaGraphTest, enqueue) {
  Gpu gpu(0);
  Module module(gpu, {"", kPtx}, "kernels");
  Kernel kernel = module.kernel("add_one");
  Memory x(gpu, 400), y(gpu, 400);
  upload(x, numbers(100), gpu.stream());
  Command commands[] = {addOne(kernel, x), Fill{y.get(), 7, 400},
                        Copy{y.get(), x.get(), 400}};
  enqueue(gpu.stream(), commands);
  EXPECT_EQ(download(y, gpu.stream()), numbers(100, 1));
}

// Threads share a GPU and a module; each has a stream and a graph.
TEST_F(CudaGraphTest, threads) {
  Gpu gpu(0);
  Module module(gpu, {"", kPtx}, "kernels");
  Kernel kernel = module.kernel("add_one");
  auto body = [&](float first) {
    Stream stream(gpu);
    Graph graph(gpu);
    for (int round = 0; round < 20; ++round) {
      Memory x(gpu, 4000, stream), y(gpu, 4000, stream);
      upload(x, numbers(1000, first), stream);
      Command commands[] = {addOne(kernel, x), Copy{y.get(), x.get(), 4000},
                            addOne(kernel, y)};
      graph.run(stream, commands);
      launch(stream, addOne(kernel, y));
      EXPECT_EQ(download(y, stream), numbers(1000, first + 3));
    }
    EXPECT_EQ(graph.recordings(), 1u);
  };
  std::vector<std::thread> threads;
  for (float first : {1.0f, 2.0f, 3.0f, 4.0f})
    threads.emplace_back(body, first);
  for (std::thread &thread : threads)
    thread.join();
}
