// A CUDA driver for tests, over the memory of the host: it checks every call,
// fails where it is told to, and runs kernels through a hook. The runtime loads
// it as TESSERA_CUDA_DRIVER; this is how tests speak to it.
#pragma once

#include "runtime/cuda/Driver.h"

#include <functional>
#include <string>
#include <vector>

namespace tessera::test {

using runtime::cuda::Result;

struct TestDevice {
  std::string name = "Test GPU";
  int major = 9, minor = 0;
  size_t memoryBytes = size_t(64) << 20;
  int sharedPerBlock = 227 << 10;
};

// A launch as a hook sees it. Pointers are addresses of the host.
struct TestLaunch {
  std::string kernel;
  unsigned grid[3], block[3], sharedBytes;
  std::vector<std::vector<unsigned char>> arguments;

  template <typename T> T argument(size_t i) const {
    T value;
    __builtin_memcpy(&value, arguments.at(i).data(), sizeof(T));
    return value;
  }
};

// Forgets everything; what was alive is not reported. The runtime must hold
// nothing of the driver.
void resetDriver(std::vector<TestDevice> devices = {{}}, int version = 13000);

// Called for each launch, when it is its turn on the GPU. It returns success,
// or what the GPU fails with. Without a hook, kernels that were given to
// tesseraAddKernel() run on the emulator, and others do nothing.
void onLaunch(std::function<Result(const TestLaunch &)> hook);

// The next `times` calls of this function ("cuMemAlloc_v2") after `skip` more
// return `result` and do nothing.
void failCalls(const std::string &function, Result result, int times = 1,
               int skip = 0);
// Whether all those failures have happened.
bool allFailed();

// How often a function was called since resetDriver().
size_t callsOf(const std::string &function);
// Every function of the driver, by its exported name.
std::vector<std::string> driverFunctions();

// What was done wrong since resetDriver(), one sentence each: wrong context or
// handle, memory used after it was freed or by two streams at once, a copy that
// is not of pinned memory, and so on.
std::vector<std::string> violations();

// Forgets what was done wrong, in a test of the test driver.
void forgetViolations();

// What is alive: "memory 0x..., 256 bytes".
std::vector<std::string> alive();

} // namespace tessera::test
