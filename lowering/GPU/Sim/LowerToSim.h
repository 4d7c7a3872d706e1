// Lowers GPU kernels to host code that the SIMT emulator runs.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace mlir {
class DialectRegistry;
}

namespace tessera::lowering {

struct SimOptions {
  /// Accesses to memory are reported, so that a launch can check them.
  bool checks = true;
  /// Operations, branches and requests to memory are counted.
  bool counters = false;
  /// Appended to the exported names.
  std::string symbolSuffix;
};

/// Registers the dialects that GPU kernels come in after all GPU passes, and
/// the translation of what lowerToSim() makes of them.
void registerSimDialects(mlir::DialectRegistry &registry);

/// Lowers `module` in place to the plain LLVM dialect, for one thread: it
/// refers to nothing but the functions of runtime/sim/SimAbi.h, memcpy, memmove
/// and memset. It takes ops of the LLVM and NVVM dialects, in gpu.modules or
/// not. Every `llvm.func` with `nvvm.kernel` becomes an exported
/// tessera_sim_kernel of its name and the suffix. Emits diagnostics and fails
/// on ops that the emulator does not know.
llvm::LogicalResult lowerToSim(mlir::ModuleOp module,
                               const SimOptions &options = {});

} // namespace tessera::lowering
