// Comparison of tensors, and the text of a difference.
#ifndef TESSERA_TEST_NUMERICS_COMPARE_H
#define TESSERA_TEST_NUMERICS_COMPARE_H

#include "lowering/Reference/Interpreter.h"
#include <optional>
#include <string>

namespace tessera::numerics {

/// How far apart two numbers may be: either of the two is enough.
struct Tolerance {
  int64_t ulp = 0; ///< Units in the last place; 0 asks for the same bits.
  double absolute = 0;
  bool anyZero = false; ///< -0 and 0 are alike.
};

/// The first element that differs by more than the tolerance. All NaNs are
/// alike. Nothing if there is none.
std::optional<std::string>
firstDifference(mlir::Type type, const lowering::TensorBytes &expected,
                const lowering::TensorBytes &actual, Tolerance tolerance);

} // namespace tessera::numerics

#endif
