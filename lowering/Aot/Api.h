// The exported functions and data of an object.
#ifndef TESSERA_LOWERING_AOT_API_H
#define TESSERA_LOWERING_AOT_API_H

#include "lowering/Aot/Object.h"

namespace tessera::lowering {

/// What a call returns: a code in the low byte, and above it the number of the
/// field or the symbol that it is about.
enum class CallError {
  none = 0,
  nullField = 1,
  misalignedField = 2,
  nullArena = 3,
  misalignedArena = 4,
  cpu = 5,
  nullDims = 7,
  size = 8,
};

/// What the object was compiled to for one target.
struct TargetCode {
  TargetInfo target;
  Plan plan;
  std::string entry; ///< a tessera_entry_fn in the module
};

/// Adds to a module that holds the entries, for a program named `name`:
///   int NAME(const struct NAME_buffers *, void *arena,
///            const struct tessera_host *);
/// or, if it has symbolic dimensions,
///   int NAME(const struct NAME_buffers *, const struct NAME_dims *,
///            void *arena, const struct tessera_host *);
///   int64_t NAME_arena_bytes(const struct NAME_dims *);
/// and
///   const struct tessera_program NAME_program;
llvm::Error addApi(llvm::Module &module, const AotProgram &program,
                   const AotOptions &options,
                   llvm::ArrayRef<TargetCode> targets);

} // namespace tessera::lowering

#endif
