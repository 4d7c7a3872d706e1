// From a recorded program to something that runs: what the front end and the
// tools call.
#ifndef TESSERA_LOWERING_COMPILER_H
#define TESSERA_LOWERING_COMPILER_H

#include "lowering/CodeGen/Optimize.h"
#include "lowering/Stage.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace tessera::runtime {
class Executable;
}

namespace tessera::lowering {

/// Is told of each stage that a compilation comes to: its text, which parses
/// back, and the name of the kernel where the stage is one of a kernel.
using StageObserver = std::function<void(Stage stage, llvm::StringRef kernel,
                                         llvm::StringRef text)>;

struct ProgramOptions {
  /// Threads that compile kernels; 0 means one for each core.
  int threads = 0;
  /// What to compile for; by default this machine's CPU (hostTarget()). Another
  /// target's code can be looked at, not loaded: it is for lowerTo().
  std::optional<TargetInfo> target;
  /// The GPU that runs what is compiled for a GPU itself.
  int gpu = 0;
  /// Fuses ops into kernels; without it each op is a kernel of its own, with
  /// the same results.
  bool fuse = true;
  /// A folder that receives every stage; empty for that of TESSERA_DUMP, if it
  /// is set. A dump compiles past every cache.
  std::string dump;
  /// If set, the compilation goes past every cache. Called by one thread at a
  /// time. Equal kernels are compiled once, under the name of the first.
  StageObserver observe;
};

/// Compiles the function `main` of a module for this machine's CPU, an emulated
/// GPU or a GPU. The module
/// may be in any stage of a program: it runs through those that remain, ends in
/// the plan stage, and gives the same bits from wherever it comes. On failure
/// `error` says why: the module keeps the contract of no stage (stageOf()), or
/// there is a bug of the compiler or of the machine, since a program in a stage
/// can be compiled. Inputs of the executable are the function's arguments,
/// outputs its results. What is wrong with a GPU is thrown, as
/// cuda::DeviceError.
mlir::FailureOr<std::shared_ptr<runtime::Executable>>
compile(mlir::ModuleOp module, const ProgramOptions &options,
        std::string &error);

/// Leads a module through the stages that remain up to `last`, for the sake of
/// `options.observe`; nothing is dumped or loaded. The module ends in `last`,
/// or in the plan stage if `last` is one of kernels.
llvm::LogicalResult lowerTo(mlir::ModuleOp module, Stage last,
                            const ProgramOptions &options, std::string &error);

/// Compiles a module for `options.target`, a GPU itself, to the PTX of all its
/// kernels as listPtx() writes it. The module ends in the plan stage.
mlir::FailureOr<std::string> compileToPTX(mlir::ModuleOp module,
                                          const ProgramOptions &options,
                                          std::string &error);

/// Carries on from a kernel's file of a dump, in the loops or the LLVM stage,
/// to optimised LLVM IR for this target. What is wrong with the text, which may
/// be anybody's, is an error with its name and the line.
llvm::Expected<IRModule> readKernel(llvm::MemoryBufferRef text, Stage stage,
                                    const TargetInfo &target);
/// And on to the object that the dumped compilation made of it.
llvm::Expected<std::string> compileKernel(llvm::MemoryBufferRef text,
                                          Stage stage,
                                          const TargetInfo &target);

} // namespace tessera::lowering

#endif
