// The functions of a kernel module: one a launch, over a range of tiles.
#ifndef TESSERA_LOWERING_KERNELS_LAUNCH_H
#define TESSERA_LOWERING_KERNELS_LAUNCH_H

#include "dialects/Tessera/IR/Tessera.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/SizeFormula.h"

namespace tessera::lowering {

/// The arguments of a kernel's launch: the inputs, the outputs that overwrite
/// none of them, and a workspace.
struct LaunchArguments {
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<int64_t> outputs; ///< The argument of each output.
  bool hasWorkspace = false;          ///< The last one is the workspace.
};
LaunchArguments launchArguments(ir::KernelOp kernel,
                                const runtime::SizeFormula &workspace);

/// A launch function under construction. Its arguments are flat memrefs of the
/// kernel's inputs, of the outputs that overwrite none of them and, if
/// `workspace` is not 0, that many bytes; then the range of tiles. Both numbers
/// may depend on symbols.
class Launch {
public:
  /// Makes `func.func @name` at the end of `module`, with `tiles` tiles.
  Launch(mlir::ModuleOp module, ir::KernelOp kernel, llvm::StringRef name,
         const runtime::SizeFormula &tiles,
         const runtime::SizeFormula &workspace = {});

  mlir::OpBuilder &body() { return builder; }
  mlir::Location loc() const { return location; }
  mlir::ValueRange inputs() {
    return function.getArguments().take_front(numInputs);
  }
  mlir::ValueRange outputs() { return outputBuffers; }
  /// The argument before the range of tiles.
  mlir::Value workspace() {
    return function.getArgument(function.getNumArguments() - 3);
  }

  /// Opens the loop over this call's tiles and leaves the builder inside; the
  /// tile's number is returned.
  mlir::Value forEachTile();
  /// Opens `for (i = low; i < high; i += step)` and leaves the builder inside;
  /// i is returned.
  mlir::Value openLoop(mlir::Value low, mlir::Value high, int64_t step);
  /// Continues after the innermost open loop.
  void closeLoop();
  mlir::Value number(int64_t value);
  /// Ends the function.
  void finish();

private:
  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  mlir::Location location;
  unsigned numInputs;
  llvm::SmallVector<mlir::Value> outputBuffers;
  llvm::SmallVector<mlir::Operation *> open;
};

/// Bytes of a tensor in memory.
int64_t byteSize(mlir::RankedTensorType type);

/// The flat memref type of a tensor in memory.
mlir::MemRefType flatMemRef(mlir::RankedTensorType type);

} // namespace tessera::lowering

#endif
