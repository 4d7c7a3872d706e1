// Ops on f16 and bf16 as ops on f32 between conversions.
#ifndef TESSERA_TRANSFORMS_WIDENNARROW_H
#define TESSERA_TRANSFORMS_WIDENNARROW_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera::ir {

/// Whether an op does more with narrow floats than move and convert them.
bool computesNarrowFloats(mlir::Operation *op);

/// Afterwards narrow floats are only moved about and converted: what computes
/// with them does so in f32, and its result is rounded, which is what the
/// floating-point contract says. Composites are gone before.
void widenNarrowFloats(mlir::func::FuncOp function);

} // namespace tessera::ir

#endif
