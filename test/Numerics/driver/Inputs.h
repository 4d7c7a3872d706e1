// Random inputs for numeric tests.
#ifndef TESSERA_TEST_NUMERICS_INPUTS_H
#define TESSERA_TEST_NUMERICS_INPUTS_H

#include "lowering/Reference/Interpreter.h"
#include <string>

namespace tessera::numerics {

/// How the elements of a round's inputs are drawn.
enum class Draw {
  plain,       ///< Floats of moderate size; small integers.
  fewSpecials, ///< One in sixteen is NaN, infinite, zero, denormal, extreme.
  anyBits,     ///< Any bit pattern, or special.
  ties,        ///< Only -1, -0, 0, 1 and 2, so that many are equal.
};
inline constexpr Draw kDraws[] = {Draw::plain, Draw::fewSpecials, Draw::anyBits,
                                  Draw::ties};
const char *nameOf(Draw draw);

/// One tensor for each argument. An argument's attributes say more about it:
/// `test.range = [LOW, HIGH]` draws uniformly from there in every round, and
/// `test.values = dense<...>` are its elements.
std::vector<lowering::TensorBytes> makeInputs(mlir::func::FuncOp function,
                                              Draw draw, uint64_t seed);

/// The tensor of one argument.
lowering::TensorBytes makeInput(mlir::func::FuncOp function, unsigned number,
                                Draw draw, uint64_t seed);

/// The elements of an attribute as they lie in memory.
lowering::TensorBytes bytesOfElements(mlir::DenseElementsAttr elements);

} // namespace tessera::numerics

#endif
