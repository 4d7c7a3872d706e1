// Where in the user's source an op comes from.
#ifndef TESSERA_LOWERING_CODEGEN_USERPLACE_H
#define TESSERA_LOWERING_CODEGEN_USERPLACE_H

#include "mlir/IR/Location.h"

namespace tessera::lowering {

/// The innermost file and line of a location that belong to the user; null if
/// there is none.
mlir::FileLineColLoc userPlace(mlir::Location loc);

} // namespace tessera::lowering

#endif
