// The NVIDIA GPUs that code is made for: facts about each architecture, and
// what follows from them.
#pragma once
#include "lowering/CodeGen/Target.h"
#include "llvm/ADT/ArrayRef.h"

namespace tessera::lowering {

/// Facts about one GPU architecture. Emitters choose by these and never by the
/// name.
struct GpuTarget {
  llvm::StringLiteral name; ///< As ptxas spells it: sm_90.
  int major, minor;         ///< The compute capability.
  /// The PTX version to ask for, times ten: at least 8.0, and the first one
  /// that knows the architecture if that is later.
  int ptxVersion;
  /// Bytes of shared memory: that one block may have, static and dynamic
  /// together, and that one multiprocessor has.
  int64_t sharedPerBlock, sharedPerMultiprocessor;
  /// What the system takes of each block's shared memory, and the step in which
  /// it is given out.
  int64_t sharedReserved, sharedUnit;
  /// Most of each that one multiprocessor holds at once.
  int warps, blocks;
  bool hasAsyncCopy;     ///< cp.async
  bool hasBF16, hasTF32; ///< mma.sync on these, and bf16 instructions.
  bool hasClusters;      ///< Clusters, mbarrier transactions and TMA.
  bool hasWgmma;         ///< wgmma: of sm_90a only.
  bool hasPackedF32;     ///< Two f32 operations in one instruction.

  static constexpr int kWarp = 32;
  static constexpr int kThreadsPerBlock = 1024;
  static constexpr int kRegistersPerThread = 255;
  static constexpr int kRegisters = 65536; ///< Of one multiprocessor.
  /// Shared memory that a module may declare; more must be asked for at launch.
  static constexpr int64_t kStaticShared = 48 << 10;
};

/// Every architecture that there is code for, oldest first.
llvm::ArrayRef<GpuTarget> gpuTargets();

/// Whether the name looks like a GPU's, sm_NN, known or not.
bool isGpuName(llvm::StringRef name);

/// The target of this name. An unknown one is an error that lists those that
/// there are and names the one whose code runs on it.
llvm::Expected<TargetInfo> gpuTargetFor(llvm::StringRef name);

/// The target whose code runs on a GPU of this architecture, which may be newer
/// than any that there is code for.
llvm::Expected<TargetInfo> gpuTargetRunningOn(llvm::StringRef arch);

/// Lets products of f32 be computed in tf32, if it is a GPU that has it.
void allowTF32(TargetInfo &target);

/// How many blocks of a kernel one multiprocessor holds at once.
struct Occupancy {
  int blocks = 0; ///< 0 if a block does not fit at all.
  int warps = 0;
  double fraction = 0;       ///< Of the warps that it could hold.
  llvm::StringRef limitedBy; ///< registers, shared memory, warps or blocks.
};
Occupancy occupancyOf(const GpuTarget &gpu, int threadsPerBlock,
                      int registersPerThread, int64_t sharedPerBlock);

} // namespace tessera::lowering
