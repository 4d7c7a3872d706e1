// Runs of elements of a reduction: neighbours that an index reaches by its
// innermost dimension alone.
#ifndef TESSERA_LOWERING_KERNELS_RUNS_H
#define TESSERA_LOWERING_KERNELS_RUNS_H

#include "dialects/Tessera/IR/Tessera.h"

namespace tessera::lowering {

/// The longest runs of a space's elements, of at most the dimensions from
/// `firstDim` on: no op of the kernel tells elements of a run apart by anything
/// but their distance.
int64_t findRunLength(ir::KernelOp kernel, llvm::ArrayRef<int64_t> space,
                      int64_t firstDim);

/// The index of the element of `value` that is `offset` after the one at
/// `index`, in the same run.
llvm::SmallVector<ir::LaneIndex>
indexInRun(ir::LaneMath &lane, mlir::Value value,
           llvm::SmallVector<ir::LaneIndex> index, ir::LaneIndex offset);

} // namespace tessera::lowering

#endif
