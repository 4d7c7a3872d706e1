// Which devices this process can use, and for what.
#pragma once

#include "runtime/Storage.h"
#include "tessera/Tensor.h"

namespace tessera::detail {

/// Throws DeviceError, with what to do about it, unless tensors can be on the
/// device. `what` is the function that was called.
void checkDevice(const Device &device, const char *what,
                 std::source_location place);

/// The bytes as memory that the device reaches: themselves if they are, else a
/// copy. Throws DeviceError and OutOfMemory at the place.
runtime::Storage bytesOn(const runtime::Storage &bytes, const Device &device,
                         const char *what, std::source_location place);

/// A tensor of these bytes on the default device. One number stays with the
/// host, from where programs take it.
Tensor madeHere(runtime::Storage bytes, const Shape &shape, DType dtype,
                const char *what, std::source_location place);

/// In a handler: throws what the runtime threw about a device or its memory as
/// what users catch, and anything else as it is.
[[noreturn]] void rethrowDeviceError(const char *what,
                                     std::source_location place);

/// Whether programs of the device are not compiled.
inline bool isInterpreted(const Device &device) {
  return device.kind() == runtime::DeviceKind::Reference;
}

} // namespace tessera::detail
