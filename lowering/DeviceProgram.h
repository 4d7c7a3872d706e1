// A plan and its compiled kernels as a program that a GPU runs.
#ifndef TESSERA_LOWERING_DEVICEPROGRAM_H
#define TESSERA_LOWERING_DEVICEPROGRAM_H

#include "lowering/CodeGen/PlanEntry.h"
#include "runtime/cuda/Program.h"

namespace tessera::lowering {

/// The launches of `plan`, whose symbols are those of `kernels`.
runtime::cuda::ProgramCode programCode(const Plan &plan,
                                       llvm::ArrayRef<KernelObject> kernels,
                                       const TargetInfo &target);

/// Compiles `jobs`, the same kernels for the emulator, and gives them to a
/// driver that has no GPU (Driver::addKernel) under the symbols of `kernels`.
/// They live as long as what is returned.
llvm::Expected<std::shared_ptr<void>>
addToEmulatedDriver(llvm::ArrayRef<KernelJob> jobs,
                    llvm::ArrayRef<KernelObject> kernels,
                    KernelCompileOptions options);

} // namespace tessera::lowering

#endif
