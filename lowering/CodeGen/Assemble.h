// Assembly text to an object.
#ifndef TESSERA_LOWERING_CODEGEN_ASSEMBLE_H
#define TESSERA_LOWERING_CODEGEN_ASSEMBLE_H

#include "lowering/CodeGen/Target.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace tessera::lowering {

/// Assembles what emitAssembly() writes, or what somebody made of it. The
/// error has the lines that do not assemble.
llvm::Expected<std::string> assemble(llvm::MemoryBufferRef text,
                                     const TargetInfo &target);

} // namespace tessera::lowering

#endif
