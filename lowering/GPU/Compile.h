// From a GPU kernel module to PTX and machine code.
#pragma once
#include "lowering/CodeGen/CompileKernels.h"
#include "lowering/GPU/LowerToNVVM.h"

namespace tessera::lowering {

/// Lowers GPU kernel modules, as lowerGpuModule() takes them, for a GPU itself:
/// the bytes of a KernelObject are PTX with `.loc` lines of the user's files,
/// its machine code a cubin.
extern const KernelLowering gpuLowering;

struct GpuCompileOptions {
  TargetInfo target; ///< Of gpuTargetFor().
  LowerOptions lower;
  /// Machine code is made too, where nvJitLink is there. Without it the driver
  /// compiles the PTX when it loads it.
  bool cubin = true;
  /// The cache of cubins; null means the process's.
  ObjectCache *cache = nullptr;
  /// If set, called with the text of each stage.
  std::function<void(llvm::StringRef stage, llvm::StringRef text)> dump;
};

/// Compiled kernels of one module.
struct GpuCode {
  std::vector<LaunchInfo> launches;
  std::string ptx;
  std::string cubin; ///< Empty if it was not asked for, or there is no linker.
};

/// The PTX of a module that lowerGpuModule() made, with `.loc` lines of the
/// user's files. The same module gives the same bytes. Uses `module` up.
llvm::Expected<std::string> emitPTX(mlir::ModuleOp module,
                                    const TargetInfo &target,
                                    std::string *ir = nullptr);

/// linkCubin() through the cache on disk.
llvm::Expected<std::string>
cachedCubin(llvm::StringRef ptx, const TargetInfo &target, ObjectCache &cache);

/// All of it, from a module as lowerGpuModule() takes it. `module` is used up.
llvm::Expected<GpuCode> compileGpuKernel(mlir::ModuleOp module,
                                         const GpuCompileOptions &options);

} // namespace tessera::lowering
