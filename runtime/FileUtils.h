// Reading and writing of whole files. Errors are std::system_error with the
// path in the text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tessera::runtime {

// The bytes of a file. A file of more than `maxBytes` is an error (EFBIG), so
// that a wrong path does not fill the memory.
std::string readFile(const std::string &path, size_t maxBytes);

// Replaces the file as a whole: others see the old bytes or the new ones, never
// a part. A device or a pipe is not replaced but written to. The new file is
// written beside the old one and renamed. It is not forced to the disk: after a
// crash of the machine it may be missing or empty, so a reader that cares
// checks the content.
void writeFileAtomic(const std::string &path, std::string_view bytes);

} // namespace tessera::runtime
