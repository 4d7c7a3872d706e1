// What the file formats read and write: named bytes with an element type and a
// shape, before there is a tensor.
#pragma once

#include "runtime/DType.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::io {

/// A file that cannot be read or written; the text begins with the file's name.
class FileError : public std::runtime_error {
public:
  FileError(const std::string &file, const std::string &what)
      : std::runtime_error(file + ": " + what) {}
};

/// A block of bytes with shared ownership. Blocks that were read are aligned to
/// 64 bytes, so that a tensor can take one over; a block to be written may
/// point into memory of somebody else.
struct Bytes {
  std::shared_ptr<std::byte> data;
  size_t size = 0;

  /// Uninitialised memory. Throws std::bad_alloc.
  static Bytes allocate(size_t size);
  /// Memory of the caller, which must outlive the block.
  static Bytes borrow(const void *data, size_t size);
};

/// A tensor as a file holds it: dense, row-major, little-endian.
struct RawTensor {
  std::string name; ///< empty where the format has no names
  runtime::DType dtype = runtime::DType::f32;
  std::vector<int64_t> shape; ///< empty for a scalar
  Bytes bytes;                ///< exactly as many as dtype and shape need

  /// Makes every byte of a boolean tensor 0 or 1, as compiled code expects;
  /// other types are left alone.
  void normaliseBooleans();
  /// Throws FileError unless dtype, shape and the number of bytes agree: checks
  /// what a caller wants to write.
  void check(const std::string &file) const;
};

/// The bytes of a dense tensor, or nothing if a dimension is negative or the
/// product of those that are not zero does not fit 63 bits: runtime::byteSize
/// for untrusted shapes, of which strides are computed too.
std::optional<uint64_t> checkedByteSize(std::span<const int64_t> shape,
                                        runtime::DType dtype);

/// Dtype and shape as all messages show them: f32[2,3].
std::string typeText(runtime::DType dtype, std::span<const int64_t> shape);

/// A text from a file as the messages show it: short, and without control
/// characters that a terminal would obey.
std::string printable(std::string_view text);

} // namespace tessera::io
