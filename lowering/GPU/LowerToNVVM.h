// Lowers a GPU kernel module to the LLVM and NVVM dialects, the form that PTX
// is made of and that the emulator runs.
#pragma once
#include "lowering/CodeGen/LowerToLLVM.h"

namespace tessera::lowering {

/// The attribute of the buffers' sizes, see lowerGpuModule().
inline constexpr llvm::StringLiteral kBufferBytes = "tessera.buffers";

/// Registers the dialects of GPU kernel modules and their translation to LLVM
/// IR.
void registerGpuDialects(mlir::DialectRegistry &registry);

/// Lowers `module` in place. It holds one gpu.module, whose kernels are
/// `gpu.func ... kernel` and whose other functions are func.func or gpu.func.
/// A kernel takes memrefs of static shape and identity layout, then numbers
/// (index, integers, floats); it has the attributes
/// - known_block_size: its threads, needed;
/// - tessera.launch: the blocks of its grid, as a number or a formula;
/// - tessera.shared: bytes of dynamic shared memory to ask for, 0 without it;
/// - tessera.workspace, tessera.dims: as on the CPU;
/// - tessera.buffers: the bytes of each memref as a number or a formula, for
///   whoever checks accesses.
///
/// What comes out is a plain module without gpu.module: llvm.func, of which the
/// kernels have `nvvm.kernel` and `nvvm.maxntid`, pointers where they had
/// memrefs; llvm.mlir.global in address space 3 for shared memory, the dynamic
/// one an array of no elements; and NVVM ops, those that will be inline PTX
/// still ops. Emits diagnostics and fails on what it cannot lower. `launches`,
/// if not null, is filled in order of the module.
llvm::LogicalResult lowerGpuModule(mlir::ModuleOp module,
                                   const TargetInfo &target,
                                   const LowerOptions &options = {},
                                   std::vector<LaunchInfo> *launches = nullptr);

} // namespace tessera::lowering
