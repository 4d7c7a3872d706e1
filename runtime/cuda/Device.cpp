// Opening of GPUs, and the state of those that failed.
#include "runtime/cuda/Device.h"

#include "runtime/cuda/Allocator.h"
#include "runtime/cuda/Staging.h"
#include "runtime/cuda/Stream.h"

#include <map>

namespace tessera::runtime::cuda {

int Gpu::count() {
  const Driver &driver = Driver::instance();
  int count = 0;
  Result result = driver.deviceGetCount(&count);
  if (result != Result::Success)
    throw DeviceError(Fault::NoDriver,
                      "the CUDA driver does not count its GPUs: " +
                          describe(driver, result),
                      result);
  return count;
}

Gpu &Gpu::at(int ordinal) {
  static std::mutex *mutex = new std::mutex;
  static auto *open = new std::map<int, std::unique_ptr<Gpu>>;
  std::lock_guard guard(*mutex);
  std::unique_ptr<Gpu> &gpu = (*open)[ordinal];
  if (!gpu)
    gpu = std::make_unique<Gpu>(ordinal);
  return *gpu;
}

Gpu::Gpu(int ordinal) : theDriver(Driver::instance()), number(ordinal) {
  int gpus = count();
  if (ordinal < 0 || ordinal >= gpus)
    throw DeviceError(Fault::NoDevice,
                      "there is no " + str() + ": this machine has " +
                          (gpus == 0   ? "no GPU"
                           : gpus == 1 ? "one GPU, cuda:0"
                                       : std::to_string(gpus) +
                                             " GPUs, cuda:0 to cuda:" +
                                             std::to_string(gpus - 1)));
  check(theDriver.deviceGet(&device, ordinal), "opening the GPU");
  theInfo = readInfo();
  check(theDriver.primaryContextRetain(&theContext, device),
        "making a context on the GPU");
  try {
    theStream = std::make_unique<Stream>(*this);
  } catch (...) {
    theDriver.primaryContextRelease(device);
    throw;
  }
  theAllocator = std::make_unique<Allocator>(*this);
  theStaging = std::make_unique<Staging>(*this);
}

Gpu::~Gpu() {
  theStaging.reset();
  theAllocator.reset();
  theStream.reset();
  theDriver.primaryContextRelease(device);
}

void Gpu::streamEnds(Stream &stream) {
  if (theAllocator) // which the default stream outlives
    theAllocator->adoptBlocksOf(stream);
}

int Gpu::attribute(Attribute attribute) {
  int value = 0;
  check(theDriver.deviceGetAttribute(&value, attribute, device),
        "asking for its properties");
  return value;
}

GpuInfo Gpu::readInfo() {
  GpuInfo info;
  char name[256] = {};
  check(theDriver.deviceGetName(name, sizeof(name) - 1, device),
        "asking for its name");
  info.name = name;
  int major = attribute(Attribute::CapabilityMajor),
      minor = attribute(Attribute::CapabilityMinor);
  info.arch = "sm_" + std::to_string(major * 10 + minor);
  if (major * 10 + minor < 75)
    throw DeviceError(Fault::WrongArch,
                      str() + " (" + info.name + ") is of architecture " +
                          info.arch + ": GPUs from sm_75 on can be used");
  check(theDriver.deviceTotalMem(&info.memoryBytes, device),
        "asking for its memory");
  info.multiprocessors = attribute(Attribute::Multiprocessors);
  info.clockKHz = attribute(Attribute::ClockRate);
  info.threadsPerBlock = attribute(Attribute::MaxThreadsPerBlock);
  info.sharedPerBlock = attribute(Attribute::MaxSharedPerBlockOptin);
  return info;
}

void Gpu::throwLost() const {
  std::lock_guard guard(reasonMutex);
  throw DeviceError(Fault::DeviceLost, reason);
}

void Gpu::checkAlive() const {
  if (isLost())
    throwLost();
}

void Gpu::check(Result result, const std::string &what,
                const std::string &culprits) {
  if (result == Result::Success)
    return;
  checkAlive(); // the first failure is the one to tell
  std::string text = str() + ": " + what + ": " + describe(theDriver, result);
  if (!culprits.empty())
    text += ", in " + culprits;
  if (result == Result::OutOfMemory)
    throw OutOfDeviceMemory(text);
  if (!isFatal(result))
    throw DeviceError(Fault::Other, text, result);
  text += ". " + str() +
          " cannot be used any more by this process, and what its tensors "
          "hold is gone; other devices can. Start the program anew to use it; "
          "if the failure comes again, run on \"sim:" +
          (theInfo.arch.empty() ? "sm_80" : theInfo.arch) +
          "\", which checks each access, to find it";
  {
    std::lock_guard guard(reasonMutex);
    if (reason.empty())
      reason = text;
  }
  lost.store(true, std::memory_order_release);
  throw DeviceError(Fault::DeviceLost, text, result);
}

std::pair<size_t, size_t> Gpu::memory() const {
  QuietContextScope current(*this);
  size_t free = 0, total = 0;
  if (isLost() || !current ||
      theDriver.memGetInfo(&free, &total) != Result::Success)
    return {0, 0};
  return {free, total};
}

} // namespace tessera::runtime::cuda
