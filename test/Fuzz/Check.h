// The check that a random program passes.
#ifndef TESSERA_TEST_FUZZ_CHECK_H
#define TESSERA_TEST_FUZZ_CHECK_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace tessera::fuzz {

/// Computes the function `main` in every way, on inputs drawn from the seed:
/// all give the same bits, and each op those of the interpreter (functions such
/// as exp: within 2 ULP). Empty, or what is wrong. If the function is marked so
/// (kGradient) the same for its derivatives.
std::string check(mlir::ModuleOp module, uint64_t seed);

} // namespace tessera::fuzz

#endif
