// Finds out what a device needs.
#include "frontend/Devices.h"

#include "frontend/Recording.h"
#include "lowering/CodeGen/GpuTarget.h"
#include "lowering/GPU/Sim/Launches.h"
#include "runtime/Allocator.h"
#include "runtime/cuda/Device.h"
#include "runtime/sim/Session.h"

namespace tessera::detail {

void checkDevice(const Device &device, const char *what,
                 std::source_location place) {
  switch (device.kind()) {
  case runtime::DeviceKind::Cpu:
  case runtime::DeviceKind::Reference:
    return;
  case runtime::DeviceKind::Sim:
    if (auto target = lowering::emulatedTargetFor(device.architecture());
        !target)
      throw DeviceError(errorPlace(place), what,
                        device.str() + ": " +
                            llvm::toString(target.takeError()));
    return;
  case runtime::DeviceKind::Cuda:
    try {
      runtime::cuda::Gpu &gpu = runtime::cuda::Gpu::at(device.ordinal());
      gpu.checkAlive();
      if (auto target = lowering::gpuTargetRunningOn(gpu.info().arch); !target)
        throw DeviceError(errorPlace(place), what,
                          device.str() + ": " +
                              llvm::toString(target.takeError()));
    } catch (...) {
      rethrowDeviceError(what, place);
    }
    return;
  }
}

runtime::Storage bytesOn(const runtime::Storage &bytes, const Device &device,
                         const char *what, std::source_location place) {
  try {
    return bytes.on(device);
  } catch (...) {
    rethrowDeviceError(what, place);
  }
}

Tensor madeHere(runtime::Storage bytes, const Shape &shape, DType dtype,
                const char *what, std::source_location place) {
  Device device = default_device();
  if (!shape.empty())
    bytes = bytesOn(bytes, device, what, place);
  return makeTensor(std::move(bytes), shape, dtype, device);
}

void rethrowDeviceError(const char *what, std::source_location place) {
  try {
    throw;
  } catch (const runtime::cuda::DeviceError &error) {
    throw DeviceError(errorPlace(place), what, error.what());
  } catch (const runtime::sim::Fault &error) {
    throw DeviceError(errorPlace(place), what, error.what());
  } catch (const std::bad_alloc &error) {
    bool isOurs = dynamic_cast<const runtime::OutOfMemoryError *>(&error);
    throw OutOfMemory(errorPlace(place), what,
                      isOurs ? error.what() : "out of memory");
  }
}

} // namespace tessera::detail
