// Which devices this process can use, and for what.
#pragma once

#include "tessera/Tensor.h"

namespace tessera::detail {

/// Throws DeviceError, with what to do about it, unless tensors can be on the
/// device. `what` is the function that was called.
void checkDevice(const Device &device, const char *what,
                 std::source_location place);

/// Whether programs of the device are not compiled.
inline bool isInterpreted(const Device &device) {
  return device.kind() == runtime::DeviceKind::Reference;
}

} // namespace tessera::detail
