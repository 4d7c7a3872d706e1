// Hashes for cache keys and symbol names, and the version of the compiler that
// goes into them.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace tessera::lowering {

/// BLAKE3 of the parts and their lengths, as 64 hexadecimal digits.
std::string hashHex(llvm::ArrayRef<llvm::StringRef> parts);

/// Stands for the code of this compiler: our version, LLVM's version, and the
/// build ids of the libraries that hold them, so that a rebuilt compiler takes
/// nothing from an older one.
const std::string &compilerVersion();

} // namespace tessera::lowering
