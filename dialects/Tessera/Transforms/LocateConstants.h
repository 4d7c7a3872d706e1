// Places for the constants that folding makes.
#ifndef TESSERA_TRANSFORMS_LOCATECONSTANTS_H
#define TESSERA_TRANSFORMS_LOCATECONSTANTS_H

#include "dialects/Tessera/IR/Tessera.h"

namespace tessera::ir {

/// Gives every op inside `root` whose location is unknown that of its first
/// user.
void locateConstants(mlir::Operation *root);

} // namespace tessera::ir

#endif
