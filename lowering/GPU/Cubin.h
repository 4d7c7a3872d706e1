// PTX to machine code of a GPU, by NVIDIA's nvJitLink library, which is loaded
// if this machine has it.
#pragma once
#include "lowering/CodeGen/Target.h"

namespace tessera::lowering {

/// The version of nvJitLink here, as "13.0"; empty if there is none. It is
/// looked for where the dynamic loader does, in the folder that CUDA_HOME or
/// CUDA_PATH names, and in /usr/local/cuda.
const std::string &cubinLinkerVersion();

/// The cubin of this PTX for exactly target's architecture. Without nvJitLink,
/// an error that says so and what to do; if the PTX does not assemble, an error
/// with the linker's log.
llvm::Expected<std::string> linkCubin(llvm::StringRef ptx,
                                      const TargetInfo &target);

} // namespace tessera::lowering
