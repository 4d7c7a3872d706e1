// What PTX must be: assembled for its architecture, within budgets, with the
// instructions it was written for.
#pragma once
#include "lowering/CodeGen/GpuTarget.h"
#include "lowering/CodeGen/LowerToLLVM.h"
#include "test/Gpu/driver/Assembler.h"
#include <string>
#include <vector>

namespace tessera::test {

/// Limits of each kernel. Spills are never allowed unless `maxSpill` says so.
struct PtxBudget {
  int maxRegisters = lowering::GpuTarget::kRegistersPerThread;
  int64_t maxSpill = 0;
  int64_t maxShared = 0; ///< Declared and dynamic; 0: what a block may have.
  double minOccupancy = 0;
  std::vector<std::string> expected;  ///< Texts that the PTX must have, or
                                      ///< "one|another".
  std::vector<std::string> forbidden; ///< Texts that it must not have.
};

/// A kernel's figures on its architecture.
struct PtxFigures {
  KernelUsage usage;
  int64_t shared = 0; ///< Declared and dynamic.
  lowering::Occupancy occupancy;
};

struct PtxReport {
  bool assembled = false; ///< False if this machine has no ptxas.
  std::vector<PtxFigures> kernels;
  std::vector<std::string> faults; ///< Empty: all is well.
};

/// Checks PTX for one architecture. `launches` gives the threads and the
/// dynamic shared memory of each kernel. The texts are looked for in any case,
/// the rest is checked where ptxas is.
PtxReport checkPtx(llvm::StringRef ptx, const lowering::TargetInfo &target,
                   llvm::ArrayRef<lowering::LaunchInfo> launches,
                   const PtxBudget &budget);

} // namespace tessera::test
