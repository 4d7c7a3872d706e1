// A small compiler for kernel modules, for the Gemm emitter's tests and
// measurements.
#pragma once
#include "lowering/CPU/GemmPlan.h"
#include <memory>
#include <string>
#include <vector>

namespace tessera::test {

/// The signature of a launch, as the runtime calls it.
using LaunchFn = void (*)(void *const *buffers, int64_t begin, int64_t end);

struct CompileTimes {
  double emit = 0, mlir = 0, translate = 0, optimise = 0, codegen = 0;
  double total() const { return emit + mlir + translate + optimise + codegen; }
};

/// A compiled module: its launches in order, with their tile counts.
class CompiledGemm {
public:
  struct Launch {
    LaunchFn function;
    int64_t tiles;
  };
  std::vector<Launch> launches;
  int64_t workspaceBytes = 0;
  CompileTimes times;

  /// Runs every launch on this thread. `buffers` end with the workspace.
  void run(void *const *buffers) const {
    for (const Launch &launch : launches)
      launch.function(buffers, 0, launch.tiles);
  }

  std::shared_ptr<void> jit; ///< Keeps the code alive.
};

/// The CPU to compile for; an empty name is this machine.
lowering::cpu::GemmTarget targetOf(const std::string &cpu);

/// Emits the module with `emit`, which returns the bytes of workspace, and
/// compiles it for this machine.
CompiledGemm
compileGemm(const std::string &cpu,
            llvm::function_ref<int64_t(mlir::ModuleOp, mlir::Location)> emit);

/// The assembly of the module for `cpu`.
std::string
assembleGemm(const std::string &cpu,
             llvm::function_ref<int64_t(mlir::ModuleOp, mlir::Location)> emit);

} // namespace tessera::test
