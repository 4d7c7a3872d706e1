// The host code of a program: calls its kernels in order on pointers into its
// buffers and its arena.
#pragma once
#include "lowering/CodeGen/CompileKernels.h"
#include "lowering/CodeGen/Optimize.h"

namespace tessera::lowering {

/// A place in memory that a kernel gets a pointer to.
struct BufferRef {
  enum Kind { Buffer, Arena, Dims } kind = Buffer;
  int64_t index = 0;  ///< Which of the entry's buffers (inputs, then outputs);
                      ///< unused for the arena and the dimensions.
  int64_t offset = 0; ///< In bytes from the start of the buffer or the arena.
  /// What each symbolic dimension adds to an offset into the arena, times its
  /// size; see runtime::offsetAt().
  std::vector<int64_t> per = {};
};

/// One call of a kernel's launch.
struct PlanLaunch {
  std::string symbol; ///< LaunchInfo::symbol.
  int64_t tiles = 1;
  std::vector<BufferRef> buffers;
  /// What symbolic dimensions add to `tiles`.
  std::vector<runtime::SizeFormula::Term> tileTerms = {};
  /// The user's file and line of the kernel, "train.cpp:12", or empty.
  std::string place = {};
};

/// A program as kernels and memory. Launches run in order, each after the one
/// before has finished.
struct Plan {
  /// Bytes of the arena, workspaces included. In a program of symbolic
  /// dimensions each adds arenaPer times its size; what the workspaces take,
  /// the largest of `workspaces`, then comes on top.
  int64_t arenaBytes = 0;
  std::vector<int64_t> arenaPer = {};
  std::vector<runtime::SizeFormula> workspaces = {};
  /// Symbolic dimensions, the entries of `dims`.
  int64_t symbols = 0;
  /// Inputs and outputs, for a program of symbolic dimensions.
  int64_t numBuffers = 0;
  std::vector<PlanLaunch> launches;
  /// For each output, the input whose bytes it takes, or -1.
  std::vector<int64_t> aliases;
};

/// A plan that is loaded. `entry` is a tessera_entry_fn and lives as long as
/// `code`, which holds the kernels too.
struct CompiledPlan {
  std::shared_ptr<LoadedObject> code;
  void *entry = nullptr;
};

/// The LLVM IR of `int name(const tessera_host *, void *const *buffers, const
/// int64_t *dims, void *arena, tessera_status *)`, which refers to the launches
/// by symbol and holds all else that it needs. It runs with the standard
/// floating-point environment and restores the caller's. It returns 0.
llvm::Expected<IRModule> planIR(const Plan &plan, llvm::StringRef name,
                                const TargetInfo &target);

/// planIR() as an object to link with those of the kernels.
llvm::Expected<std::string> planObject(const Plan &plan, llvm::StringRef name,
                                       const TargetInfo &target);

/// Compiles, or takes from the cache, and loads the entry of `plan`, whose
/// symbols are those of `kernels`.
llvm::Expected<CompiledPlan>
loadPlan(const Plan &plan,
         llvm::ArrayRef<std::shared_ptr<const CompiledObject>> kernels,
         const TargetInfo &target, ObjectCache *cache = nullptr);

} // namespace tessera::lowering
