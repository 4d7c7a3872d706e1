// Programs with one of their sizes made symbolic, against the static ones.
#ifndef TESSERA_TEST_NUMERICS_SYMBOLIC_H
#define TESSERA_TEST_NUMERICS_SYMBOLIC_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "test/Numerics/driver/Devices.h"
#include <optional>

namespace tessera::numerics {

/// What became of a function whose leading size was made symbolic.
enum class Symbolic { same, impossible, refused, wrong };

/// Makes the leading size of the first tensor argument a symbol wherever it
/// occurs, compiles that once, and compares it with the static programs of
/// several sizes bit by bit. A function that has no such size, or whose shapes
/// do not fit for others, is impossible; one that does not compile is refused,
/// for a reason that is printed. The symbolic program is for `target`, or for
/// this machine's CPU, as the static ones are.
Symbolic checkSymbolic(mlir::func::FuncOp function, uint64_t seed,
                       std::optional<lowering::TargetInfo> target = {});

/// The function with its leading size made symbolic, compiled, and run at that
/// size; nothing where that is impossible or refused.
std::optional<Variant> symbolicVariant(mlir::func::FuncOp function);

} // namespace tessera::numerics

#endif
