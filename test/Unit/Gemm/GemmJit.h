// Compiles kernel modules for the Gemm emitter's tests and measurements.
#pragma once
#include "lowering/CPU/GemmPlan.h"
#include "lowering/CodeGen/Jit.h"
#include "lowering/CodeGen/LowerToLLVM.h"

namespace tessera::test {

/// The signature of a launch, as the runtime calls it.
using LaunchFn = void (*)(void *const *buffers, int64_t begin, int64_t end);

/// Milliseconds of this thread on a core.
struct CompileTimes {
  double emit = 0, lower = 0, optimize = 0, codegen = 0;
};

/// A compiled module: its launches in order, with their tile counts.
struct CompiledGemm {
  struct Launch {
    LaunchFn function;
    int64_t tiles;
  };
  std::vector<Launch> launches;
  int64_t workspaceBytes = 0;
  CompileTimes times;
  std::shared_ptr<lowering::LoadedObject> object; ///< Keeps the code alive.

  /// Runs every launch on this thread. `buffers` end with the workspace.
  void run(void *const *buffers) const {
    for (const Launch &launch : launches)
      launch.function(buffers, 0, launch.tiles);
  }
};

/// Emits the launches of a module and returns the bytes of their workspace.
using EmitFn =
    llvm::function_ref<int64_t(mlir::ModuleOp, const lowering::TargetInfo &)>;

/// Compiles what `emit` makes for the CPU of this name, or for this machine if
/// it is empty.
CompiledGemm compileGemm(llvm::StringRef cpu, EmitFn emit);

/// The assembly of what `emit` makes.
std::string assembleGemm(llvm::StringRef cpu, EmitFn emit);

/// Time of this thread on a core in seconds; other processes disturb it less
/// than they do the time of day.
double threadSeconds();

} // namespace tessera::test
