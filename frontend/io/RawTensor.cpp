// Memory for what is read, and the arithmetic of shapes that no file may make
// overflow.
#include "frontend/io/RawTensor.h"

#include <cstdlib>
#include <limits>
#include <new>

namespace tessera::io {

Bytes Bytes::allocate(size_t size) {
  constexpr size_t alignment = 64;
  if (size > std::numeric_limits<size_t>::max() - alignment)
    throw std::bad_alloc();
  size_t rounded =
      size == 0 ? alignment : (size + alignment - 1) / alignment * alignment;
  auto *data = static_cast<std::byte *>(std::aligned_alloc(alignment, rounded));
  if (!data)
    throw std::bad_alloc();
  return {std::shared_ptr<std::byte>(data, std::free), size};
}

Bytes Bytes::borrow(const void *data, size_t size) {
  // Only writers borrow, and they do not write through the pointer.
  auto *bytes = static_cast<std::byte *>(const_cast<void *>(data));
  return {std::shared_ptr<std::byte>(bytes, [](std::byte *) {}), size};
}

void RawTensor::normaliseBooleans() {
  if (dtype != runtime::DType::boolean)
    return;
  std::byte *data = bytes.data.get();
  for (size_t i = 0; i < bytes.size; ++i)
    data[i] = std::byte(data[i] != std::byte(0));
}

void RawTensor::check(const std::string &file) const {
  if (checkedByteSize(shape, dtype) == bytes.size)
    return;
  std::string who =
      name.empty() ? "the array" : "tensor \"" + printable(name) + "\"";
  throw FileError(file, who + ", " + typeText(dtype, shape) + ", has " +
                            std::to_string(bytes.size) +
                            " bytes, which do not fit");
}

std::optional<uint64_t> checkedByteSize(std::span<const int64_t> shape,
                                        runtime::DType dtype) {
  auto bytes = static_cast<int64_t>(runtime::bytesOf(dtype));
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return std::nullopt;
    if (extent == 0)
      empty = true;
    else if (__builtin_mul_overflow(bytes, extent, &bytes))
      return std::nullopt;
  }
  return empty ? 0 : static_cast<uint64_t>(bytes);
}

std::string typeText(runtime::DType dtype, std::span<const int64_t> shape) {
  std::string text(runtime::nameOf(dtype));
  text += '[';
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? "," : "") + std::to_string(shape[i]);
  return text + ']';
}

std::string printable(std::string_view text) {
  constexpr size_t limit = 120;
  std::string result(text.substr(0, limit));
  for (char &c : result)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
      c = '?';
  return text.size() > limit ? result + "..." : result;
}

} // namespace tessera::io
