// What derivatives of recorded values need to know of the trace.
#pragma once

#include "frontend/Trace.h"

namespace tessera::detail {

/// Values between outputs and inputs that no derivative passes: those recorded
/// under NoGrad. The trace is locked.
llvm::SmallVector<mlir::Value>
findBarriers(Trace &trace, mlir::ValueRange outputs, mlir::ValueRange inputs);

} // namespace tessera::detail
