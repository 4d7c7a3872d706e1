// Asks the CPU whether it can run what was compiled for a target.
#ifndef TESSERA_LOWERING_AOT_CPUCHECK_H
#define TESSERA_LOWERING_AOT_CPUCHECK_H

#include "lowering/CodeGen/Target.h"
#include "llvm/IR/Module.h"

namespace tessera::lowering {

/// A function `int(void)` in `module`, which gives the number of the first of
/// the targets that this CPU and its operating system can run, or -1. It asks
/// once and remembers the answer. Null for a target whose instructions every
/// machine of its architecture has.
llvm::Expected<llvm::Function *>
addCpuChoice(llvm::Module &module, llvm::ArrayRef<TargetInfo> targets);

} // namespace tessera::lowering

#endif
