// Kernels of the reduction tests: written as formulas, compiled by an emitter,
// and run.
#pragma once
#include "dialects/Tessera/IR/Expr.h"
#include "lowering/CodeGen/Jit.h"
#include "lowering/CodeGen/LowerToLLVM.h"
#include "mlir/IR/OwningOpRef.h"
#include <memory>

namespace tessera::test {

using Bytes = std::vector<uint8_t>;

/// A kernel under construction. Its context, and so the kernel, lives as long
/// as it.
class KernelMaker {
public:
  KernelMaker();

  ir::Expr input(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  ir::Expr input(llvm::ArrayRef<int64_t> shape) { return input(shape, f32()); }
  void output(ir::Expr value) { outputs.push_back(value.value()); }
  /// Ends the region; nothing can be added afterwards.
  ir::KernelOp finish(ir::KernelKind kind);

  mlir::OpBuilder &at() { return builder; }
  mlir::Location loc() { return builder.getUnknownLoc(); }
  mlir::RankedTensorType type(llvm::ArrayRef<int64_t> shape,
                              mlir::Type element) {
    return mlir::RankedTensorType::get(shape, element);
  }
  mlir::Type f32() { return builder.getF32Type(); }
  mlir::Type f64() { return builder.getF64Type(); }
  mlir::Type i64() { return builder.getI64Type(); }
  mlir::Type integer(unsigned width) { return builder.getIntegerType(width); }
  mlir::MLIRContext &getContext() { return *context; }

private:
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::OpBuilder builder;
  mlir::Block *block;
  llvm::SmallVector<mlir::Value> outputs;
};

/// A compiled kernel.
struct CompiledKernel {
  std::shared_ptr<lowering::LoadedObject> object;
  std::vector<lowering::LaunchInfo> launches;
  std::vector<int64_t> outputBytes;
  double milliseconds = 0; ///< To emit and compile it.

  /// Runs all tiles, in some shuffled order, and checks that nothing is written
  /// around the outputs.
  std::vector<Bytes> run(const std::vector<Bytes> &inputs) const;
  /// Runs on buffers that the caller has made: inputs, outputs, workspace.
  void runOn(void *const *buffers) const;
  int64_t workspaceBytes() const;
};

/// Seconds that this thread has run, so that other programs disturb less.
double threadSeconds();

/// Compiles through the emitter of the kernel's kind; any error fails the test
/// and gives nullopt.
std::optional<CompiledKernel> compileKernel(ir::KernelOp kernel,
                                            const lowering::TargetInfo &target);
std::string kernelAssembly(ir::KernelOp kernel,
                           const lowering::TargetInfo &target);
std::string kernelIR(ir::KernelOp kernel, const lowering::TargetInfo &target);
/// The kernel module as text.
std::string kernelLoops(ir::KernelOp kernel,
                        const lowering::TargetInfo &target);

/// What the kernel's outputs must be, op by op: reductions by a plain
/// definition of the tree, functions such as exp by a loop of that op alone
/// compiled for the target, all else by the interpreter.
std::vector<Bytes> evaluateKernel(ir::KernelOp kernel,
                                  const std::vector<Bytes> &inputs,
                                  const lowering::TargetInfo &target);

/// Numbers of a tensor type, some of them special where `special` says so.
Bytes randomTensor(mlir::RankedTensorType type, uint32_t seed, bool special);
/// The number of elements whose bits differ; all NaNs are alike.
int64_t countDifferences(mlir::RankedTensorType type, const Bytes &got,
                         const Bytes &want);

/// Compiles for the baseline and for AVX2, runs, and compares with the
/// definition; one kernel in four also for AVX-512.
void checkKernel(ir::KernelOp kernel, uint32_t seed, bool special = false);

} // namespace tessera::test
