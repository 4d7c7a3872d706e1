// The table of element types, and the arithmetic of shapes that no file may
// make overflow.
#include "frontend/io/ElementType.h"

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

std::span<const ElementType> elementTypes() {
  // numpy has no bfloat16; its extension types are saved as raw 2-byte
  // elements.
  static constexpr ElementType table[] = {
      {"BOOL", "b1", 1, 1}, {"I8", "i1", 1, 1},   {"I16", "i2", 2, 2},
      {"I32", "i4", 4, 4},  {"I64", "i8", 8, 8},  {"U8", "u1", 1, 1},
      {"U16", "u2", 2, 2},  {"U32", "u4", 4, 4},  {"U64", "u8", 8, 8},
      {"F16", "f2", 2, 2},  {"BF16", "V2", 2, 2}, {"F32", "f4", 4, 4},
      {"F64", "f8", 8, 8},  {"C64", "c8", 8, 4},  {"C128", "c16", 16, 8, false},
  };
  return table;
}

const ElementType *findElementType(std::string_view name) {
  for (const ElementType &type : elementTypes())
    if (type.name == name)
      return &type;
  return nullptr;
}

std::optional<int64_t> countElements(std::span<const int64_t> shape,
                                     size_t size) {
  int64_t nonZero = static_cast<int64_t>(size);
  bool empty = false;
  for (int64_t dimension : shape) {
    if (dimension < 0)
      return std::nullopt;
    if (dimension == 0)
      empty = true;
    else if (__builtin_mul_overflow(nonZero, dimension, &nonZero))
      return std::nullopt;
  }
  return empty ? 0 : nonZero / static_cast<int64_t>(size);
}

std::string shapeText(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? "," : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string printable(std::string_view text) {
  constexpr size_t limit = 120;
  std::string result(text.substr(0, limit));
  for (char &c : result)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
      c = '?';
  return text.size() > limit ? result + "..." : result;
}

void normaliseBooleans(RawTensor &tensor) {
  if (tensor.dtype != "BOOL")
    return;
  std::byte *data = tensor.bytes.data.get();
  for (size_t i = 0; i < tensor.bytes.size; ++i)
    data[i] = std::byte(data[i] != std::byte(0));
}

const ElementType &checkTensor(const RawTensor &tensor,
                               const std::string &file) {
  std::string who = tensor.name.empty()
                        ? "the array"
                        : "tensor \"" + printable(tensor.name) + "\"";
  const ElementType *type = findElementType(tensor.dtype);
  if (!type)
    throw FileError(file, who + " has the unknown dtype \"" +
                              printable(tensor.dtype) + "\"");
  std::optional<int64_t> elements = countElements(tensor.shape, type->size);
  if (!elements ||
      static_cast<uint64_t>(*elements) * type->size != tensor.bytes.size)
    throw FileError(file, who + " of dtype " + tensor.dtype + " and shape " +
                              shapeText(tensor.shape) + " has " +
                              std::to_string(tensor.bytes.size) +
                              " bytes, which do not fit");
  return *type;
}

} // namespace tessera::io
