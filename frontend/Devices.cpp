// Finds out what a device needs.
#include "frontend/Devices.h"

#include "frontend/Recording.h"
#include "lowering/GPU/Sim/Launches.h"

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
    throw DeviceError(errorPlace(place), what,
                      "this build has no device " + device.str() +
                          "; \"sim:sm_90\" runs the same kernels in an "
                          "emulator");
  }
}

} // namespace tessera::detail
