// The functions of a GPU kernel module: one a launch, of which every block
// computes a tile.
#ifndef TESSERA_LOWERING_GPU_BLOCKLAUNCH_H
#define TESSERA_LOWERING_GPU_BLOCKLAUNCH_H

#include "dialects/Tessera/IR/Tessera.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "runtime/SizeFormula.h"

namespace tessera::lowering::simt {

/// Threads of a warp, which compute in step.
constexpr int64_t kWarp = 32;

/// A GPU kernel function under construction, for a one-dimensional grid of
/// one-dimensional blocks. Its arguments are those of a Launch for the CPU, but
/// for the range of tiles: each block computes the tile of its number.
class BlockLaunch {
public:
  /// Makes `gpu.func @name` at the end of the module's gpu.module, which is
  /// made if there is none, with `blocks` blocks of `threads` threads.
  BlockLaunch(mlir::ModuleOp module, ir::KernelOp kernel, llvm::StringRef name,
              const runtime::SizeFormula &blocks, int64_t threads,
              const runtime::SizeFormula &workspace = {});

  mlir::OpBuilder &body() { return builder; }
  mlir::Location loc() const { return location; }
  mlir::ValueRange inputs() {
    return function.getArguments().take_front(numInputs);
  }
  mlir::ValueRange outputs() { return outputBuffers; }
  /// The last argument.
  mlir::Value workspace() {
    return function.getArgument(function.getNumArguments() - 1);
  }

  /// The number of the block in the grid, and of the thread in the block.
  mlir::Value block() const { return blockId; }
  mlir::Value thread() const { return threadId; }
  mlir::Value number(int64_t value);

  /// An array of the block's shared memory.
  mlir::Value shared(mlir::Type element, int64_t count);
  /// All threads of the block have arrived, and see what the others wrote.
  void barrier();

  /// Opens `for (i = low; i < high; i += step)` and leaves the builder inside;
  /// i is returned.
  mlir::Value openLoop(mlir::Value low, mlir::Value high, int64_t step);
  /// Opens `if (condition)` and leaves the builder inside.
  void openIf(mlir::Value condition);
  /// Continues after what was opened last.
  void close();
  /// Ends the function.
  void finish();

private:
  mlir::OpBuilder builder;
  mlir::Location location;
  mlir::gpu::GPUFuncOp function;
  unsigned numInputs;
  llvm::SmallVector<mlir::Value> outputBuffers;
  llvm::SmallVector<mlir::Operation *> open;
  mlir::Value blockId, threadId;
};

} // namespace tessera::lowering::simt

#endif
