// Composites replaced by the primitives that define them.
#ifndef TESSERA_TRANSFORMS_DECOMPOSE_H
#define TESSERA_TRANSFORMS_DECOMPOSE_H

#include "dialects/Tessera/IR/Tessera.h"

namespace tessera::ir {

/// Replaces every composite inside `root`, those of which composites are made
/// included, by its decomposition.
void decomposeComposites(mlir::Operation *root);

} // namespace tessera::ir

#endif
