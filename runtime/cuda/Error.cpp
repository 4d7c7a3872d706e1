// Texts of the driver's errors.
#include "runtime/cuda/Error.h"

namespace tessera::runtime::cuda {

std::string describe(const Driver &driver, Result result) {
  const char *name = nullptr, *text = nullptr;
  if (driver.getErrorName(result, &name) != Result::Success || !name)
    return "CUDA error " + std::to_string(int(result));
  if (driver.getErrorString(result, &text) != Result::Success || !text)
    return name;
  return std::string(name) + " (" + text + ")";
}

bool isFatal(Result result) {
  switch (result) {
  case Result::Deinitialized:
  case Result::DeviceUnavailable:
  case Result::EccUncorrectable:
  case Result::NvlinkUncorrectable:
  case Result::IllegalAddress:
  case Result::LaunchTimeout:
  case Result::ContextDestroyed:
  case Result::Assert:
  case Result::IllegalInstruction:
  case Result::MisalignedAddress:
  case Result::InvalidAddressSpace:
  case Result::InvalidPc:
  case Result::LaunchFailed:
  case Result::Unknown:
    return true;
  default:
    return false;
  }
}

std::string versionText(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

} // namespace tessera::runtime::cuda
