// Compiles many kernels at once, each apart, through the caches.
#pragma once
#include "lowering/CodeGen/LowerToLLVM.h"
#include "lowering/CodeGen/ObjectCache.h"
#include "lowering/CodeGen/Optimize.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <functional>

namespace tessera::lowering {

/// One kernel to compile.
struct KernelJob {
  /// Bytes that determine, with the target, what `build` makes.
  std::string key;
  /// For messages and dumps.
  std::string name;
  /// Makes the kernel module; called on some thread, only if no cache has the
  /// kernel. Diagnostics it emits become the text of the error. It must not
  /// throw.
  std::function<mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>(
      mlir::MLIRContext &)>
      build;
};

/// What a dump is given, in this order.
enum class DumpStage { Loops, LLVM, Code };

/// How kernel modules of a kind of target become plain LLVM code.
struct KernelLowering {
  /// Registers the dialects that kernel modules use.
  void (*registerDialects)(mlir::DialectRegistry &);
  /// Lowers a module as lowerKernelModule() does.
  llvm::LogicalResult (*lower)(mlir::ModuleOp, const TargetInfo &,
                               const LowerOptions &, std::vector<LaunchInfo> *);
  /// Whether the code may call this function of the process; null for none.
  bool (*isKnown)(llvm::StringRef) = nullptr;
  /// Makes a kernel's bytes of its LLVM IR; null where they are an ELF object.
  llvm::Expected<std::string> (*emit)(const IRModule &,
                                      const TargetInfo &) = nullptr;
  /// Makes machine code of those bytes, by means that this process may lack:
  /// then it is empty. Null where the bytes are machine code.
  llvm::Expected<std::string> (*assemble)(llvm::StringRef bytes,
                                          const TargetInfo &,
                                          ObjectCache &) = nullptr;
};
/// That of CPUs.
extern const KernelLowering cpuLowering;

struct KernelCompileOptions {
  TargetInfo target;
  const KernelLowering *lowering = &cpuLowering;
  unsigned threads = 1;
  std::function<llvm::LogicalResult(mlir::ModuleOp, const TargetInfo &)>
      expandMath;
  /// The cache to use; null means the process's.
  ObjectCache *cache = nullptr;
  /// The code says which of the user's lines it comes from. For bitcode only.
  bool debugInfo = false;
  /// KernelLowering::assemble() is wanted.
  bool machineCode = true;
  /// If set, every kernel is compiled and no cache is asked; called for each
  /// kernel and stage, by one thread at a time, with the text of the kernel
  /// module, the LLVM IR or the assembly.
  std::function<void(const KernelJob &, DumpStage, llvm::StringRef)> dump;
};

/// A compiled kernel as bytes of an ELF object that refers to nothing but
/// memcpy, memmove and memset; for a GPU, as PTX.
struct KernelObject {
  std::vector<LaunchInfo> launches;
  std::string bytes;
  /// The cubin of a GPU's kernel; empty if there is nothing that makes it here.
  std::string machineCode = {};
};

/// The end that compileKernels() gives to the exported names of this job's
/// kernel: launch NAME is NAME + suffix. So names are known before anything is
/// compiled.
std::string symbolSuffix(const KernelJob &job, const TargetInfo &target);

/// Compiles the jobs, in parallel and through the caches, and loads them into
/// this process. Jobs of the same key are compiled once. If any fails, the
/// error has the text of all that failed.
llvm::Expected<std::vector<std::shared_ptr<const CompiledObject>>>
compileKernels(llvm::ArrayRef<KernelJob> jobs,
               const KernelCompileOptions &options);

/// The same without loading, for any target.
llvm::Expected<std::vector<KernelObject>>
compileKernelObjects(llvm::ArrayRef<KernelJob> jobs,
                     const KernelCompileOptions &options);

/// A kernel as optimised LLVM bitcode, to be linked with others of its program.
struct KernelBitcode {
  std::vector<LaunchInfo> launches;
  std::string bytes;
};

/// The same up to code generation, past every cache. Code generation makes the
/// same instructions of it as compileKernelObjects().
llvm::Expected<std::vector<KernelBitcode>>
compileKernelBitcode(llvm::ArrayRef<KernelJob> jobs,
                     const KernelCompileOptions &options);

/// Lowers the text of a kernel module, as a dump shows it in the loops stage,
/// to optimised LLVM IR: the same as that of the compilation that was dumped,
/// given the same target and `expandMath`. If the text is wrong, the error
/// consists of diagnostics with its name and lines.
llvm::Expected<IRModule> lowerLoops(llvm::MemoryBufferRef text,
                                    const KernelCompileOptions &options);

} // namespace tessera::lowering
