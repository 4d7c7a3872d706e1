// Compiled kernels on a GPU, and their launches.
#pragma once

#include "runtime/cuda/Stream.h"

#include <array>
#include <string_view>
#include <vector>

namespace tessera::runtime::cuda {

// The code of some kernels. The cubin is for one architecture; without it, or
// on another one, the driver compiles the PTX.
struct Code {
  std::string_view cubin, ptx;
  std::string_view arch = {}; // that it was compiled for, for errors
};

// One kernel; lives as long as its module.
class Kernel {
public:
  const std::string &name() const { return theName; }
  // "softmax (train.cpp:12)": for errors.
  const std::string &place() const { return thePlace; }
  FunctionHandle get() const { return handle; }
  int registers() const { return theRegisters; }
  int64_t sharedBytes() const { return declaredShared; }

private:
  friend class Module;
  std::string theName, thePlace;
  FunctionHandle handle = nullptr;
  int theRegisters = 0;
  int64_t declaredShared = 0;
};

// Loaded code. Thread-safe.
class Module {
public:
  // `name` is for errors. Throws DeviceError: the driver is too old for the
  // PTX, the code is for another architecture, or it is broken.
  Module(Gpu &gpu, const Code &code, std::string name);
  // Waits for the GPU, since its kernels may be running.
  ~Module();
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  Gpu &gpu() const { return theGpu; }

  // The kernel of this name, which asks for `dynamicShared` bytes at launch;
  // `line` is where it comes from, "train.cpp:12", or empty. Throws DeviceError
  // if there is none, or if the GPU has less shared memory than it needs.
  Kernel kernel(const std::string &symbol, int64_t dynamicShared = 0,
                const std::string &line = {});

private:
  Result load(std::string_view image, std::string &log);
  [[noreturn]] void fail(Result result, const Code &code,
                         const std::string &log);

  Gpu &theGpu;
  const std::string name;
  ModuleHandle handle = nullptr;
};

// One launch of a kernel: its grid and the values of its parameters.
struct Launch {
  const Kernel *kernel = nullptr;
  std::array<unsigned, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  unsigned sharedBytes = 0;
  // Each parameter in the low bytes of a cell: pointers, integers, floats.
  std::vector<uint64_t> arguments = {};

  friend bool operator==(const Launch &, const Launch &) = default;
};

// Gives the launch to the stream, whose GPU the kernel is loaded on. An empty
// grid launches nothing.
void launch(Stream &stream, const Launch &launch);

} // namespace tessera::runtime::cuda
