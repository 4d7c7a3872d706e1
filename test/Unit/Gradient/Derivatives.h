// Functions made from functions: their tangents and cotangents, and evaluation
// in f64.
#ifndef TESSERA_TEST_UNIT_GRADIENT_DERIVATIVES_H
#define TESSERA_TEST_UNIT_GRADIENT_DERIVATIVES_H

#include "lowering/Reference/Interpreter.h"

namespace tessera::gradient {

using Numbers = std::vector<double>;
using Tensors = std::vector<lowering::TensorBytes>;

bool isReal(mlir::Type type);
/// The numbers of a tensor of f64 or f32, and back.
Numbers numbersOf(mlir::Type type, const lowering::TensorBytes &bytes);
lowering::TensorBytes bytesOf(mlir::Type type, const Numbers &numbers);

/// The values that a function's results depend on, in the order in which they
/// are evaluated: a copy of the function that takes a tangent for each argument
/// in `active` after its own arguments, and returns the tangents of its float
/// results. Zeros are made explicit.
mlir::func::FuncOp forwardOf(mlir::func::FuncOp function,
                             llvm::ArrayRef<unsigned> active);

/// A copy that takes a cotangent for each float result after its own arguments,
/// and returns those of the arguments in `active`.
mlir::func::FuncOp reverseOf(mlir::func::FuncOp function,
                             llvm::ArrayRef<unsigned> active);

} // namespace tessera::gradient

#endif
