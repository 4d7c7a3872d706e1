// The functions of a GPU kernel module: one a launch, of which every block
// computes a tile.
#ifndef TESSERA_LOWERING_GPU_BLOCKLAUNCH_H
#define TESSERA_LOWERING_GPU_BLOCKLAUNCH_H

#include "lowering/Kernels/Launch.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace tessera::lowering::simt {

/// Threads of a warp.
constexpr int64_t kWarp = 32;

/// A launch on a GPU: a one-dimensional grid of one-dimensional blocks, each of
/// which computes the tile of its number.
class BlockLaunch : public KernelFunction {
public:
  /// Makes `gpu.func @name` at the end of the module's gpu.module, which is
  /// made if there is none, with `blocks` blocks of `threads` threads.
  BlockLaunch(mlir::ModuleOp module, ir::KernelOp kernel, llvm::StringRef name,
              const runtime::SizeFormula &blocks, int64_t threads,
              const runtime::SizeFormula &workspace = {});

  /// The number of the block in the grid, and of the thread in the block.
  mlir::Value block() const { return blockId; }
  mlir::Value thread() const { return threadId; }

  /// An array of the block's shared memory.
  mlir::Value shared(mlir::Type element, int64_t count);
  /// The shared memory that the launch asks for, `bytes` of it, as bytes
  /// aligned to 16. At most once.
  mlir::Value dynamicShared(int64_t bytes);
  /// Registers are given out such that this many blocks run side by side. An
  /// assembler that is not told spills some to make it more.
  void sideBySide(int64_t blocks);
  /// All threads of the block have arrived, and see what the others wrote.
  void barrier();
  void finish() override;

private:
  mlir::Value blockId, threadId;
};

} // namespace tessera::lowering::simt

#endif
