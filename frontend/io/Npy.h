// numpy's .npy format: one array with its type, order and shape in a small
// header.
#pragma once

#include "frontend/io/File.h"

namespace tessera::io {

/// Reads an array into row-major, little-endian order. Throws FileError for
/// what is malformed, for structured dtypes, strings, and object arrays, which
/// hold pickled Python. Raw 2-byte elements, as which numpy saves bfloat16, are
/// BF16.
RawTensor readNpy(const std::filesystem::path &path);
RawTensor readNpy(const Source &source);

/// Writes an array atomically; its name is not stored. Throws FileError.
void writeNpy(const std::filesystem::path &path, const RawTensor &array);

} // namespace tessera::io
