// Fusion: from the tensor stage to the kernels stage.
#ifndef TESSERA_TRANSFORMS_FUSE_H
#define TESSERA_TRANSFORMS_FUSE_H

#include "dialects/Tessera/IR/Tessera.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera::ir {

/// Puts every op of the function into a kernel region. With `fuse` ops are
/// joined where that saves memory traffic; without it each op that computes is
/// a kernel of its own, its views folded in. Afterwards only kernels and
/// reshapes, which move nothing, stand in the function.
void formKernels(mlir::func::FuncOp function, bool fuse);

} // namespace tessera::ir

#endif
