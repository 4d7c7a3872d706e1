// GPU kernels as loaded host code, to be launched by runtime/sim/Launch.h.
#pragma once
#include "lowering/CodeGen/Jit.h"
#include "lowering/CodeGen/Target.h"
#include "lowering/GPU/Sim/LowerToSim.h"
#include "runtime/sim/SimAbi.h"

namespace tessera::lowering {

/// Kernels of one module, loaded. They live as long as `code`.
struct SimProgram {
  std::shared_ptr<LoadedObject> code;
  std::string symbolSuffix;

  /// The kernel of this name, or null.
  const tessera_sim_kernel *find(llvm::StringRef name) const;
};

/// Lowers a copy of `module`, whose context has the dialects of
/// registerSimDialects(), compiles it for this machine and loads it. The error
/// has the text of the diagnostics, each with its file and line. The names that
/// are exported are of the module's content; options.symbolSuffix is not used.
llvm::Expected<SimProgram> compileForSim(mlir::ModuleOp module,
                                         SimOptions options = {});

/// The same from the text of a module. `file` names it in messages and in the
/// places of ops that carry no other.
llvm::Expected<SimProgram> compileForSim(llvm::StringRef text,
                                         llvm::StringRef file,
                                         const SimOptions &options = {});

} // namespace tessera::lowering
