// One test body for several element types.
#ifndef TESSERA_TEST_NUMERICS_ELEMENTTYPES_H
#define TESSERA_TEST_NUMERICS_ELEMENTTYPES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera::numerics {

/// A copy of the function, behind it, in which `element` stands wherever f32
/// stood; constants are converted.
mlir::func::FuncOp withElementType(mlir::func::FuncOp function,
                                   mlir::Type element);

} // namespace tessera::numerics

#endif
