// The safetensors format: an 8-byte header length, a JSON header, and the
// tensors' bytes without gaps.
#pragma once

#include "frontend/io/File.h"

#include <map>

namespace tessera::io {

struct SafetensorsFile {
  std::vector<RawTensor> tensors; ///< in the order of their bytes
  std::map<std::string, std::string>
      metadata; ///< the optional `__metadata__` of the header
};

/// Reads a whole file. Nothing in it is trusted: a header that is malformed,
/// that names a tensor twice, or whose offsets overlap, leave gaps or do not
/// fit shape, dtype and file, throws FileError, before memory for it is
/// allocated.
SafetensorsFile readSafetensors(const std::filesystem::path &path);
SafetensorsFile readSafetensors(const Source &source);

/// Writes a file atomically, larger elements first, so that all data is aligned
/// to its element. Throws FileError, also for a name that occurs twice or is
/// not UTF-8, and for C128, which the format lacks.
void writeSafetensors(const std::filesystem::path &path,
                      std::span<const RawTensor> tensors,
                      const std::map<std::string, std::string> &metadata = {});

} // namespace tessera::io
