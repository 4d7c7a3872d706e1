// Single elements of every dtype as C++ numbers.
#pragma once

#include "tessera/DType.h"

#include <cstddef>
#include <string>

namespace tessera::detail {

/// Copies elements to another dtype that can hold them: any to floats of C++,
/// integers and bools to integers, bools to bools. False for other pairs.
bool convertElements(const void *from, DType fromType, void *to, DType toType,
                     size_t count);

/// The i-th element as a double, exact but for large 64-bit integers.
double elementAsDouble(const void *data, DType dtype, int64_t i);

/// The shortest text that reads back as the i-th element.
std::string elementText(const void *data, DType dtype, int64_t i);

} // namespace tessera::detail
