// What the file formats read and write: named bytes with an element type and a
// shape, before there is a tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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
  std::string name;           ///< empty where the format has no names
  std::string dtype;          ///< as in ElementType.h: "F32", "BF16", ...
  std::vector<int64_t> shape; ///< empty for a scalar
  Bytes bytes;                ///< exactly as many as dtype and shape need
};

} // namespace tessera::io
