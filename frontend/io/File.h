// Reading at offsets from a file or from memory, and writing a file in one
// atomic step.
#pragma once

#include "frontend/io/RawTensor.h"

#include <filesystem>
#include <span>
#include <string_view>

namespace tessera::io {

/// Bytes at offsets, from wherever they come.
class Source {
public:
  virtual ~Source() = default;
  /// The name that error texts begin with.
  const std::string &name() const { return sourceName; }
  uint64_t size() const { return sourceSize; }
  /// Copies `count` bytes from `offset` on. Throws FileError when they are not
  /// there.
  void read(uint64_t offset, void *to, size_t count) const;

protected:
  Source(std::string name, uint64_t size)
      : sourceName(std::move(name)), sourceSize(size) {}
  virtual void readInside(uint64_t offset, void *to, size_t count) const = 0;

  std::string sourceName;
  uint64_t sourceSize;
};

/// Opens a file. What cannot seek, such as a pipe, is read into memory at once.
std::unique_ptr<Source> openFile(const std::filesystem::path &path);

/// Reads from memory of the caller, under a name for the error texts.
std::unique_ptr<Source> openMemory(std::span<const std::byte> bytes,
                                   std::string name);

/// Writes the pieces one after the other into a new file that then takes the
/// place of `path`: a reader sees the old file or the new one, and an
/// interrupted write leaves the old one. Symbolic links are followed; devices
/// and pipes are written directly. Throws FileError.
void writeFile(const std::filesystem::path &path,
               std::span<const std::span<const std::byte>> pieces);

/// A text as bytes.
inline std::span<const std::byte> asBytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

} // namespace tessera::io
