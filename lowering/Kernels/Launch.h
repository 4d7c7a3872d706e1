// The functions of a kernel module: one a launch, over a range of tiles on the
// CPU.
#ifndef TESSERA_LOWERING_KERNELS_LAUNCH_H
#define TESSERA_LOWERING_KERNELS_LAUNCH_H

#include "dialects/Tessera/IR/Tessera.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "runtime/SizeFormula.h"

namespace tessera::lowering {

/// The arguments of a kernel's launch: the inputs, the outputs that overwrite
/// none of them, and a workspace.
struct LaunchArguments {
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<int64_t> outputs; ///< The argument of each output.
  bool hasWorkspace = false;          ///< The last one is the workspace.
  /// What each one takes in memory.
  llvm::SmallVector<runtime::SizeFormula> bytes;

  void add(mlir::RankedTensorType type);
};
LaunchArguments launchArguments(ir::KernelOp kernel,
                                const runtime::SizeFormula &workspace);

/// The function of a launch under construction, on any target. Its first
/// arguments are flat memrefs of the kernel's inputs, of the outputs that
/// overwrite none of them and, if it has a workspace, of that many bytes.
class KernelFunction {
public:
  virtual ~KernelFunction() = default;

  mlir::OpBuilder &body() { return builder; }
  mlir::Location loc() const { return location; }
  mlir::ValueRange inputs() {
    return function.getArguments().take_front(numInputs);
  }
  mlir::ValueRange outputs() { return outputBuffers; }
  mlir::Value workspace() { return workspaceBuffer; }
  mlir::Value number(int64_t value);

  /// Opens `for (i = low; i < high; i += step)` and leaves the builder inside;
  /// i is returned.
  mlir::Value openLoop(mlir::Value low, mlir::Value high, int64_t step);
  /// Opens `if (condition)` and leaves the builder inside.
  void openIf(mlir::Value condition);
  /// Continues after what was opened last.
  void close();
  /// Ends the function.
  virtual void finish();

protected:
  KernelFunction(ir::KernelOp kernel);
  /// Takes a new function, whose tiles and workspace depend on symbols or not,
  /// and leaves the builder at its start.
  void start(mlir::FunctionOpInterface function,
             const LaunchArguments &arguments,
             const runtime::SizeFormula &tiles,
             const runtime::SizeFormula &workspace);

  mlir::FunctionOpInterface function;
  mlir::OpBuilder builder;
  mlir::Location location;

private:
  unsigned numInputs;
  llvm::SmallVector<mlir::Value> outputBuffers;
  mlir::Value workspaceBuffer;
  llvm::SmallVector<mlir::Operation *> open;
};

/// A launch on the CPU: the range of tiles that a call computes comes last
/// among the arguments.
class Launch : public KernelFunction {
public:
  /// Makes `func.func @name` at the end of `module`, with `tiles` tiles.
  Launch(mlir::ModuleOp module, ir::KernelOp kernel, llvm::StringRef name,
         const runtime::SizeFormula &tiles,
         const runtime::SizeFormula &workspace = {});

  /// Opens the loop over this call's tiles and leaves the builder inside; the
  /// tile's number is returned.
  mlir::Value forEachTile();
  void finish() override;
};

/// Bytes of a tensor in memory.
int64_t byteSize(mlir::RankedTensorType type);

/// The flat memref type of a tensor in memory.
mlir::MemRefType flatMemRef(mlir::RankedTensorType type);

} // namespace tessera::lowering

#endif
