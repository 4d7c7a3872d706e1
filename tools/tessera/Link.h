// Shared libraries and executables, by the system's linker.
#ifndef TESSERA_TOOLS_TESSERA_LINK_H
#define TESSERA_TOOLS_TESSERA_LINK_H

#include "llvm/ADT/StringRef.h"

namespace tessera::tool {

/// Links an object into `path`: a shared library, or an executable that reads
/// and writes npy files. The linker is that of $CC, cc, clang or gcc. Nothing
/// is left at `path` if it fails, which is a Failure.
void linkFile(llvm::StringRef path, llvm::StringRef object, bool isShared,
              llvm::StringRef programName);

} // namespace tessera::tool

#endif
