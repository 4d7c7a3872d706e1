// Kernels of symbolic dimensions: how an emitter's numbers become code that
// reads the dimensions of the call.
//
// An emitter computes with stand-ins as with any size. Afterwards the constants
// of its code that are made of a stand-in become `coefficient * dims[symbol] +
// constant`. A number that the emitter derives in another way (by dividing or
// rounding) would be wrong for other sizes; since it differs between the two
// sets of stand-ins, the kernel is emitted with both and the code must be the
// same. What an emitter has to see to is that its decisions hold for small
// sizes too, for a stand-in is large.
#ifndef TESSERA_LOWERING_KERNELS_SYMBOLIC_H
#define TESSERA_LOWERING_KERNELS_SYMBOLIC_H

#include "dialects/Tessera/IR/Symbols.h"
#include "dialects/Tessera/IR/Tessera.h"
#include "lowering/CodeGen/Formula.h"
#include <functional>

namespace tessera::lowering {

/// Whether a kernel has a value of a symbolic dimension, or reads one.
bool dependsOnSymbols(ir::KernelOp kernel);

/// Emits a kernel by `emit`, which appends launches to a module. `symbols` is
/// the number of symbols of its program. A kernel without any is emitted as it
/// is. The launches of a symbolic one have the dimensions as their last buffer,
/// and in `tessera.launch` and `tessera.workspace` formulas.
using EmitKernel =
    std::function<llvm::LogicalResult(ir::KernelOp, mlir::ModuleOp)>;
llvm::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
emitSymbolic(ir::KernelOp kernel, unsigned symbols, const EmitKernel &emit);

} // namespace tessera::lowering

#endif
