// The element types that files can hold, and the name of each in every format.
#pragma once

#include "frontend/io/RawTensor.h"

#include <optional>
#include <span>
#include <string_view>

namespace tessera::io {

struct ElementType {
  std::string_view
      name; ///< ours, and that of safetensors where it has the type
  std::string_view
      npy;     ///< kind and size as in numpy's `descr`, without the byte order
  size_t size; ///< bytes of an element
  size_t word; ///< bytes of what a change of byte order reverses: half a
               ///< complex element
  bool inSafetensors = true; ///< false: that format cannot hold it
};

/// All element types.
std::span<const ElementType> elementTypes();

/// The element type of that name, or null.
const ElementType *findElementType(std::string_view name);

/// The number of elements of a shape, or nothing if a dimension is negative or
/// the elements of `size` bytes do not fit a signed 64-bit count of bytes.
/// Dimensions after a zero count too: strides are computed from them.
std::optional<int64_t> countElements(std::span<const int64_t> shape,
                                     size_t size);

/// A shape as the messages show it: [2,3].
std::string shapeText(std::span<const int64_t> shape);

/// A text from a file as the messages show it: short, and without control
/// characters that a terminal would obey.
std::string printable(std::string_view text);

/// Makes every byte of a boolean tensor 0 or 1, as compiled code expects; other
/// types are left alone.
void normaliseBooleans(RawTensor &tensor);

/// Throws FileError unless dtype, shape and the number of bytes agree: checks
/// what a caller wants to write.
const ElementType &checkTensor(const RawTensor &tensor,
                               const std::string &file);

} // namespace tessera::io
