// GPU kernels as functions of the CPU's ABI, which run on the SIMT emulator.
#pragma once
#include "lowering/CodeGen/CompileKernels.h"

namespace tessera::lowering {

/// This GPU emulated on this machine, as hostTargetOrError() finds it. The code
/// has checks if TESSERA_SIM_CHECK asks for any, and counters for a profile.
llvm::Expected<TargetInfo> emulatedTargetFor(llvm::StringRef name);

/// Lowers GPU kernel modules, as lowerGpuModule() takes them, for an emulated
/// target. A launch becomes a tessera_kernel_fn whose tiles are the blocks of
/// the grid; it must be called in a runtime::sim::Session.
extern const KernelLowering emulatorLowering;

/// Makes the emulator's functions known to the JIT, once.
llvm::Error defineEmulator();

} // namespace tessera::lowering
