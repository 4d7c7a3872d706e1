// The reference interpreter: a slow, obvious evaluator of the dialect, and the
// oracle of every numeric test.
#ifndef TESSERA_LOWERING_REFERENCE_INTERPRETER_H
#define TESSERA_LOWERING_REFERENCE_INTERPRETER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <cstdint>
#include <vector>

namespace tessera::lowering {

/// Bytes of one dense row-major tensor; a bool is one byte, 0 or 1.
using TensorBytes = std::vector<uint8_t>;

/// Evaluates a function of tessera ops (kernel regions included) on `inputs`,
/// one for each argument. Emits an error and fails on an op that it does not
/// know.
mlir::FailureOr<std::vector<TensorBytes>>
interpret(mlir::func::FuncOp function, const std::vector<TensorBytes> &inputs);

} // namespace tessera::lowering

#endif
