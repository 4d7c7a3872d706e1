// The ways in which a random program is computed, all of which give the same
// bits.
#ifndef TESSERA_TEST_FUZZ_WAYS_H
#define TESSERA_TEST_FUZZ_WAYS_H

#include "test/Numerics/driver/Devices.h"

namespace tessera::fuzz {

using Ways = std::vector<numerics::Variant>;

/// A copy of the program in a module of its own, ready for the compiler. With
/// `gradient` it takes cotangents too, and returns those of its real arguments
/// (the autodiff pass).
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
copyProgram(mlir::func::FuncOp program, bool gradient);

/// Compiled from the text of each stage that the program goes through. Fails
/// with a diagnostic.
mlir::FailureOr<Ways> carriedWays(mlir::func::FuncOp program);

/// Recorded by the front end: evaluated lazily (at once, and bit by bit) and by
/// jit. With `gradient`, for the inputs and results of the autodiff pass's
/// twin: by vjp. They throw tessera::Error.
Ways frontEndWays(mlir::func::FuncOp program, bool gradient, uint64_t seed);

/// Compares each op of the program, compiled by itself, with the interpreter on
/// the same operands, so that no errors accumulate: the same bits, or 2 ULP for
/// functions such as exp. The results have to be `expected` too. Empty, or the
/// text of the first difference.
std::string compareStepwise(mlir::func::FuncOp program,
                            const std::vector<numerics::Tensors> &inputs,
                            const std::vector<numerics::Tensors> &expected);

} // namespace tessera::fuzz

#endif
