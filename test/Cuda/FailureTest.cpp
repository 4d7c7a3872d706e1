// What is left when calls of the driver fail, one after the other, and when a
// GPU is lost.
#include "test/Cuda/Fixture.h"

#include <map>

using namespace tessera::test;

namespace {

struct CudaFailureTest : CudaTest {};

// Uses everything that the runtime does with a driver, on two GPUs.
void useEverything() {
  Gpu gpu(0), second(1);
  Module module(gpu, {"", kPtx}, "kernels");
  Kernel kernel = module.kernel("add_one", 64 << 10, "train.cpp:12");
  Stream other(gpu);
  Memory x(gpu, 4000), y(gpu, 4000, other), z(second, 4000);
  upload(x, numbers(1000), gpu.stream());
  launch(gpu.stream(), addOne(kernel, x));
  Event begin(gpu, true), end(gpu, true);
  begin.record(gpu.stream());
  Graph graph(gpu);
  Memory w(gpu, 4000);
  for (const Memory *to : {&w, &x, &w}) {
    Command commands[] = {
        Fill{w.get(), static_cast<unsigned char>(to == &w), 4000},
        addOne(kernel, *to), Copy{w.get(), x.get(), to == &w ? 4000u : 2000u}};
    graph.run(gpu.stream(), commands);
  }
  gpu.stream().fill(w.get(), 0, 4000);
  gpu.stream().copy(w.get(), x.get(), 4000);
  end.record(gpu.stream());
  other.wait(end);
  other.copy(y.get(), x.get(), 4000);
  gpu.allocator().recordUse(x.get(), other);
  ASSERT_EQ(download(y, other), numbers(1000, 2));
  gpu.stream().copyTo(second.stream(), z.get(), w.get(), 4000);
  ASSERT_EQ(download(z, second.stream()), numbers(1000, 2));
  while (!gpu.stream().isIdle() || !end.isDone())
    ;
  elapsedMilliseconds(gpu, begin, end);
  Memory freed(gpu, 4000);
  gpu.memory();
}

// Where these fail there is nothing better to do than to leave things as they
// are.
bool isCleanUp(const std::string &function) {
  return function == "cuCtxPushCurrent_v2" ||
         function.find("Synchronize") != std::string::npos ||
         function.find("Destroy") != std::string::npos ||
         function.find("Free") != std::string::npos ||
         function.find("Unload") != std::string::npos ||
         function.find("Release") != std::string::npos;
}

// Called when the process starts, or in the texts of errors only.
bool isElsewhere(const std::string &function) {
  return function == "cuInit" || function == "cuDriverGetVersion" ||
         function.find("cuGetError") == 0;
}

// What is thrown is what the result means.
void failOnce(Result result) {
  try {
    useEverything();
  } catch (const DeviceError &error) {
    EXPECT_EQ(error.fault() == Fault::DeviceLost,
              result == Result::IllegalAddress)
        << error.what();
  } catch (const tessera::runtime::OutOfMemoryError &error) {
    EXPECT_EQ(result, Result::OutOfMemory) << error.what();
  }
}

} // namespace

TEST_F(CudaFailureTest, everythingIsUsed) {
  useEverything();
  for (const std::string &function : driverFunctions())
    EXPECT_TRUE(callsOf(function) > 0 || isElsewhere(function)) << function;
}

// Every call of every function fails once. Nothing stays alive, and nothing is
// used that should not be.
TEST_F(CudaFailureTest, everyCallOfEveryFunction) {
  useEverything();
  std::map<std::string, size_t> calls;
  for (const std::string &function : driverFunctions())
    calls[function] = callsOf(function);
  for (const auto &[function, count] : calls) {
    // Without these the thread's own state would be wrong ever after.
    if (isElsewhere(function) || function == "cuCtxPopCurrent_v2")
      continue;
    constexpr Result kResults[] = {Result::OutOfMemory, Result::InvalidValue,
                                   Result::IllegalAddress};
    size_t number = 0;
    for (size_t call = 0; call < count; call += 1 + call / 6) {
      Result result = kResults[number++ % 3];
      SCOPED_TRACE(function + ", call " + std::to_string(call) +
                   " fails with " + std::to_string(int(result)));
      SetUp();
      failCalls(function, result, 1, int(call));
      failOnce(result);
      if (isCleanUp(function))
        forgetViolations();
      else
        EXPECT_EQ(alive(), std::vector<std::string>());
      EXPECT_EQ(violations(), std::vector<std::string>());
      if (HasFailure())
        return;
    }
  }
  SetUp();
  useEverything();
}

TEST_F(CudaFailureTest, aKernelThatFails) {
  Gpu gpu(0), other(1);
  Module module(gpu, {"", kPtx}, "kernels");
  Kernel good = module.kernel("add_one", 0, "train.cpp:12"),
         bad = module.kernel("axpy", 0, "train.cpp:13");
  Memory x(gpu, 4000), y(gpu, 4000), there(other, 4000);
  upload(x, numbers(1000), gpu.stream());
  upload(y, numbers(1000), gpu.stream());
  upload(there, numbers(1000), other.stream());
  onLaunch([](const TestLaunch &launch) {
    return launch.kernel == "axpy" ? Result::IllegalAddress : Result::Success;
  });
  launch(gpu.stream(), addOne(good, x));
  gpu.stream().synchronize();
  launch(gpu.stream(), axpy(bad, 1, x, y)); // nothing is known yet
  auto [text, fault] = errorOf([&] { gpu.stream().synchronize(); });
  EXPECT_EQ(fault, Fault::DeviceLost);
  expectHas(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  expectHas(text, "in the kernel \"axpy\" (train.cpp:13). cuda:0 cannot be "
                  "used any more by this process");
  expectHas(text, "run on \"sim:sm_90\"");
  EXPECT_TRUE(gpu.isLost());
  // The first error is told ever after.
  for (auto use : {+[](Gpu &gpu) { gpu.stream().synchronize(); },
                   +[](Gpu &gpu) { Memory memory(gpu, 100); },
                   +[](Gpu &gpu) { Stream stream(gpu); },
                   +[](Gpu &gpu) { Event event(gpu); },
                   +[](Gpu &gpu) { Module module(gpu, {"", kPtx}, "k"); }})
    EXPECT_EQ(errorOf([&] { use(gpu); }).first, text);
  EXPECT_EQ(errorOf([&] { (void)download(x, gpu.stream()); }).first, text);
  EXPECT_EQ(gpu.memory().second, 0u);
  // Other devices go on.
  EXPECT_EQ(download(there, other.stream()), numbers(1000));
  checkAlive = false; // a lost GPU gives nothing back
}

TEST_F(CudaFailureTest, severalKernelsMayBeTheCause) {
  Gpu gpu(0);
  Module module(gpu, {"", kPtx}, "kernels");
  Kernel kernel = module.kernel("add_one", 0, "train.cpp:12");
  Memory x(gpu, 4000);
  upload(x, numbers(1000), gpu.stream());
  gpu.stream().synchronize();
  onLaunch([](const TestLaunch &) { return Result::LaunchFailed; });
  for (int i = 0; i < 6; ++i)
    launch(gpu.stream(), addOne(kernel, x));
  auto [text, fault] = errorOf([&] { (void)download(x, gpu.stream()); });
  EXPECT_EQ(fault, Fault::DeviceLost);
  expectHas(text, "one of the kernels \"add_one\" (train.cpp:12), ");
  expectHas(text, "or one of the 2 before them");
  checkAlive = false;
}

// A failed kernel of a graph is told by name, too.
TEST_F(CudaFailureTest, aGraphThatFails) {
  Gpu gpu(0);
  Module module(gpu, {"", kPtx}, "kernels");
  Kernel kernel = module.kernel("add_one", 0, "train.cpp:12");
  Memory x(gpu, 4000);
  gpu.stream().fill(x.get(), 0, 4000);
  onLaunch([](const TestLaunch &) { return Result::EccUncorrectable; });
  Graph graph(gpu);
  Command commands[] = {addOne(kernel, x)};
  graph.run(gpu.stream(), commands);
  expectHas(errorOf([&] { gpu.stream().synchronize(); }).first,
            "in the kernel \"add_one\" (train.cpp:12)");
  checkAlive = false;
}
