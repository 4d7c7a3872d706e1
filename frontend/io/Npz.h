// numpy's .npz format: a zip file whose members are .npy files.
#pragma once

#include "frontend/io/File.h"

namespace tessera::io {

/// Reads all arrays, with the names under which they were saved. Throws
/// FileError for what is malformed, encrypted, or of another compression than
/// DEFLATE.
std::vector<RawTensor> readNpz(const std::filesystem::path &path);
std::vector<RawTensor> readNpz(const Source &source);

} // namespace tessera::io
