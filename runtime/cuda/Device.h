// One GPU: its facts, its primary context, and whether it still works.
#pragma once

#include "runtime/cuda/Error.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>

namespace tessera::runtime::cuda {

class Allocator;
class Staging;
class Stream;

struct GpuInfo {
  std::string name;       // "NVIDIA H100 80GB HBM3"
  std::string arch;       // "sm_90"
  size_t memoryBytes = 0; // all of it
  int multiprocessors = 0;
  int clockKHz = 0; // at most
  int threadsPerBlock = 0;
  int64_t sharedPerBlock = 0; // that a kernel can ask for
};

// All functions may be called from any thread.
class Gpu {
public:
  // How many there are. Throws DeviceError if there is no driver.
  static int count();

  // The GPU of this number, opened at the first call and never closed, so that
  // static destructors may still free its memory. Throws DeviceError.
  static Gpu &at(int ordinal);

  // Opens a GPU of its own; for tests. What belongs to it must be gone before
  // it is destroyed.
  explicit Gpu(int ordinal);
  ~Gpu();
  Gpu(const Gpu &) = delete;
  Gpu &operator=(const Gpu &) = delete;

  const GpuInfo &info() const { return theInfo; }
  const Driver &driver() const { return theDriver; }
  int ordinal() const { return number; }
  std::string str() const { return "cuda:" + std::to_string(number); }
  Context context() const { return theContext; }

  // The stream that work goes to unless somebody asks for another.
  Stream &stream() { return *theStream; }
  Allocator &allocator() { return *theAllocator; }
  Staging &staging() { return *theStaging; }

  // Throws what `result` means, unless it is success. `what` says what was
  // tried ("copying 64 bytes to the GPU"); `culprits` names the kernels that
  // may have caused it. A fatal result marks the GPU as lost. Throws
  // DeviceError or OutOfDeviceMemory.
  void check(Result result, const std::string &what,
             const std::string &culprits = {});

  // Throws DeviceError if the GPU is lost.
  void checkAlive() const;
  bool isLost() const { return lost.load(std::memory_order_acquire); }

  // Free bytes of memory and all bytes, as the driver sees them; zeros if the
  // GPU is lost.
  std::pair<size_t, size_t> memory() const;

  // For a stream that is idle and will be no more.
  void streamEnds(Stream &stream);

private:
  GpuInfo readInfo();
  int attribute(Attribute attribute);
  [[noreturn]] void throwLost() const;

  const Driver &theDriver;
  const int number;
  int device = 0; // CUdevice
  Context theContext = nullptr;
  GpuInfo theInfo;
  std::atomic<bool> lost{false};
  mutable std::mutex reasonMutex;
  std::string reason; // why it was lost
  std::unique_ptr<Stream> theStream;
  std::unique_ptr<Allocator> theAllocator;
  std::unique_ptr<Staging> theStaging;
};

// Makes the context of a GPU current on this thread while it lives, and then
// that which was current before: the program may use CUDA itself.
class ContextScope {
public:
  explicit ContextScope(Gpu &gpu) : driver(gpu.driver()) {
    gpu.check(driver.contextPush(gpu.context()), "using the GPU");
  }
  ~ContextScope() {
    Context popped;
    driver.contextPop(&popped);
  }
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;

private:
  const Driver &driver;
};

// The same where nothing may be thrown. False if the GPU does not even take its
// context; what it holds is then lost anyway.
class QuietContextScope {
public:
  explicit QuietContextScope(const Gpu &gpu)
      : driver(gpu.driver()),
        pushed(driver.contextPush(gpu.context()) == Result::Success) {}
  ~QuietContextScope() {
    Context popped;
    if (pushed)
      driver.contextPop(&popped);
  }
  explicit operator bool() const { return pushed; }
  QuietContextScope(const QuietContextScope &) = delete;
  QuietContextScope &operator=(const QuietContextScope &) = delete;

private:
  const Driver &driver;
  const bool pushed;
};

} // namespace tessera::runtime::cuda
