// What the Loop emitters of all targets ask of a kernel.
#ifndef TESSERA_LOWERING_KERNELS_LOOPKERNEL_H
#define TESSERA_LOWERING_KERNELS_LOOPKERNEL_H

#include "dialects/Tessera/IR/Tessera.h"

namespace tessera::lowering {

/// Emits an error on a kernel without outputs, or of several shapes.
llvm::LogicalResult verifyLoop(ir::KernelOp kernel);

/// Whether each result element depends on operand elements at the same flat
/// position only.
bool isFlat(ir::KernelOp kernel);

/// The index, in the shape of a flat kernel's ops, of a flat position: it
/// stands in the innermost dimension of more than one element, where inputs and
/// outputs are linear, and the others are zero.
llvm::SmallVector<ir::LaneIndex> flatIndex(ir::LaneMath &lane,
                                           llvm::ArrayRef<int64_t> shape,
                                           ir::LaneIndex position);

} // namespace tessera::lowering

#endif
