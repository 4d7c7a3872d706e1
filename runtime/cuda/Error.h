// What goes wrong with a GPU, as exceptions that say what to do about it.
#pragma once

#include "runtime/Allocator.h"
#include "runtime/cuda/Driver.h"

#include <stdexcept>
#include <string>

namespace tessera::runtime::cuda {

enum class Fault : uint8_t {
  NoDriver,     // no driver on this machine, or one that does not start
  DriverTooOld, // for us, or for the PTX
  NoDevice,     // no GPU, or none of that number
  WrongArch,    // code for another architecture
  BadCode,      // the driver does not take the code
  SharedMemory, // a kernel needs more than the GPU has
  DeviceLost,   // a kernel or the hardware failed: the GPU is out of use
  Other,
};

// Something is wrong with a device or the driver. Other devices stay usable,
// and unless fault() is DeviceLost so does this one.
class DeviceError : public std::runtime_error {
public:
  DeviceError(Fault fault, const std::string &text,
              Result result = Result::Success)
      : std::runtime_error(text), theFault(fault), theResult(result) {}
  Fault fault() const { return theFault; }
  // What the driver returned, if it was the driver.
  Result result() const { return theResult; }

private:
  Fault theFault;
  Result theResult;
};

// "CUDA_ERROR_NAME (explanation)", by the driver.
std::string describe(const Driver &driver, Result result);

// True for results after which the context of the device is of no more use.
bool isFatal(Result result);

// "12.4" for 12040.
std::string versionText(int version);

} // namespace tessera::runtime::cuda
