// Loading of the CUDA driver library.
#include "runtime/cuda/Driver.h"

#include "runtime/Environment.h"
#include "runtime/cuda/Error.h"

#include <dlfcn.h>
#include <optional>

namespace tessera::runtime::cuda {

namespace {

struct Loaded {
  Driver driver;
  std::optional<DeviceError> error;
};

DeviceError noDriver(const std::string &reason) {
  return DeviceError(Fault::NoDriver,
                     reason +
                         ". To use a GPU, install NVIDIA's driver; \"cpu\" and "
                         "\"sim:sm_80\" need none");
}

std::optional<DeviceError> findFunctions(void *library, Driver &driver) {
#define X(member, name, parameters)                                            \
  driver.member =                                                              \
      reinterpret_cast<decltype(driver.member)>(dlsym(library, #name));        \
  if (!driver.member)                                                          \
    return DeviceError(Fault::DriverTooOld,                                    \
                       "the CUDA driver has no function " #name                \
                       ": it is too old. Install one of CUDA 12.0 or later");
  TESSERA_CUDA_FUNCTIONS(X)
#undef X
  driver.addKernel = reinterpret_cast<decltype(driver.addKernel)>(
      dlsym(library, "tesseraAddKernel"));
  return std::nullopt;
}

std::optional<DeviceError> start(Driver &driver) {
  Result result = driver.init(0);
  if (result == Result::NoDevice)
    return DeviceError(Fault::NoDevice,
                       "the CUDA driver is here, but it finds no GPU: see what "
                       "nvidia-smi and CUDA_VISIBLE_DEVICES say",
                       result);
  if (result != Result::Success)
    return DeviceError(
        Fault::NoDriver,
        "the CUDA driver does not start: " + describe(driver, result) +
            ". If the driver was just updated, a restart of the "
            "machine helps; nvidia-smi tells more",
        result);
  driver.driverGetVersion(&driver.version);
  if (driver.version < kOldestDriver)
    return DeviceError(Fault::DriverTooOld,
                       "the CUDA driver is of CUDA " +
                           versionText(driver.version) +
                           ", which is too old: install one of CUDA " +
                           versionText(kOldestDriver) + " or later");
  return std::nullopt;
}

Loaded load() {
  Loaded loaded;
  std::string path =
      readVariable(Variable::CudaDriver).value_or("libcuda.so.1");
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror();
    loaded.error = noDriver("there is no CUDA driver (" +
                            std::string(reason ? reason : path) + ")");
    return loaded;
  }
  loaded.error = findFunctions(library, loaded.driver);
  if (!loaded.error)
    loaded.error = start(loaded.driver);
  return loaded;
}

} // namespace

const Driver &Driver::instance() {
  static const Loaded *loaded = new Loaded(load());
  if (loaded->error)
    throw *loaded->error;
  return loaded->driver;
}

} // namespace tessera::runtime::cuda
