// Whole programs on disk: a warm start needs no pass.
#ifndef TESSERA_LOWERING_PROGRAMCACHE_H
#define TESSERA_LOWERING_PROGRAMCACHE_H

#include "lowering/CodeGen/PlanEntry.h"

namespace tessera::lowering {

/// What a program becomes: its plan, and the keys under which the object cache
/// has its kernels.
struct ProgramEntry {
  Plan plan;
  std::vector<std::string> kernelKeys;
};

/// The bytes of an entry, and back; nothing comes back from bytes that are not
/// an entry.
std::string encodeProgram(const ProgramEntry &entry);
std::optional<ProgramEntry> decodeProgram(llvm::StringRef bytes);

} // namespace tessera::lowering

#endif
