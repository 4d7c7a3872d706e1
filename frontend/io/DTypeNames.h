// How each file format names the element types: one row a dtype, and no other
// list.
#pragma once

#include "runtime/DType.h"

#include <optional>
#include <string_view>

namespace tessera::io {

/// The name in safetensors headers ("F32"); empty for complex128, which the
/// format lacks.
std::string_view safetensorsName(runtime::DType dtype);
std::optional<runtime::DType> dtypeOfSafetensors(std::string_view name);

/// Kind and size as in numpy's `descr`, without the byte order ("f4").
std::string_view npyName(runtime::DType dtype);
std::optional<runtime::DType> dtypeOfNpy(std::string_view name);

} // namespace tessera::io
