// Decompression of the DEFLATE format, in which zip files hold arrays.
#pragma once

#include <cstddef>
#include <span>

namespace tessera::io {

/// Decompresses a DEFLATE stream (RFC 1951) into exactly `to.size()` bytes.
/// Returns false for a stream that is damaged or of another length.
bool inflate(std::span<const std::byte> from, std::span<std::byte> to);

} // namespace tessera::io
