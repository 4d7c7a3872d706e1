// Lowers a kernel module (func, arith, math, scf, memref, vector, x86vector) to
// the LLVM dialect.
#pragma once
#include "lowering/CodeGen/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/SizeFormula.h"
#include <functional>
#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
}

namespace tessera::lowering {

/// What a caller must know of one launch of a compiled kernel.
struct LaunchInfo {
  std::string name;   ///< The name in the kernel module.
  std::string symbol; ///< The exported symbol, of type tessera_kernel_fn.
  int64_t tiles = 1;  ///< From the attribute tessera.launch.
  int64_t buffers =
      0; ///< Number of pointers in its `buffers` array, the workspace included.
  int64_t workspaceBytes =
      0; ///< From the optional attribute tessera.workspace.
  /// What symbolic dimensions add to both.
  std::vector<runtime::SizeFormula::Term> tileTerms, workspaceTerms;
  /// The last pointer is to the dimensions, as the attribute tessera.dims says.
  bool takesDims = false;
  /// On a GPU a tile is a block of a one-dimensional grid; its threads, and the
  /// shared memory to ask for at launch.
  int64_t threads = 0, sharedBytes = 0;

  bool hasWorkspace() const {
    return workspaceBytes > 0 || !workspaceTerms.empty();
  }
};

struct LowerOptions {
  /// Replaces the math ops that have no instruction by their expansions; runs
  /// before everything else.
  std::function<llvm::LogicalResult(mlir::ModuleOp, const TargetInfo &)>
      expandMath;
  /// Appended to the exported names, so that kernels of many modules can live
  /// in one process.
  std::string symbolSuffix;
};

/// Registers the dialects of kernel modules and their translation to LLVM IR,
/// and nothing else: what a context knows is paid for each time one is made.
void registerCodeGenDialects(mlir::DialectRegistry &registry);

/// Lowers `module` in place to the LLVM dialect. Each func.func with
/// `tessera.launch` becomes an internal function with bare pointers and gets an
/// exported wrapper `void NAME(void *const *buffers, int64_t begin, int64_t
/// end)`. Emits diagnostics and fails on what it cannot lower. `launches`, if
/// not null, is filled in order of the module.
llvm::LogicalResult
lowerKernelModule(mlir::ModuleOp module, const TargetInfo &target,
                  const LowerOptions &options = {},
                  std::vector<LaunchInfo> *launches = nullptr);

} // namespace tessera::lowering
