// How operands of different shapes and dtypes meet.
#pragma once

#include "frontend/Recording.h"
#include "tessera/Reduction.h"

namespace tessera::detail {

using Operands = llvm::ArrayRef<const Operand *>;

/// Whether ops compute with a dtype.
inline bool isSupported(DType dtype) {
  return !runtime::isUnsigned(dtype) && !runtime::isComplex(dtype);
}

/// "f32[2,3] and f32[4,5]"
std::string typesText(Operands operands);

/// The dtype in which operands meet; a number takes that of the tensors.
DType commonDType(Recording &r, Operands operands);
/// The shape that all operands broadcast to. Throws ShapeError.
Shape commonShape(Recording &r, Operands operands);
/// Operands in one dtype and shape.
llvm::SmallVector<ir::Expr, 3> together(Recording &r, Operands operands,
                                        DType dtype);

/// The operand as a float: integers and bools become f32.
ir::Expr floating(Recording &r, const Operand &x);
inline DType floatingDType(DType dtype) {
  return runtime::isFloat(dtype) ? dtype : f32;
}
DType dtypeFor(const Operand &x);
Shape shapeOf(const Operand &x);

/// Throws TypeError for bools.
void requireNumbers(Recording &r, DType dtype, Operands operands);

/// An axis counted from the front. Throws IndexError unless it is inside a
/// tensor of this rank.
int64_t checkAxis(Recording &r, int64_t axis, int64_t rank);
/// Axes from the front, in increasing order. Throws for one named twice.
llvm::SmallVector<int64_t> checkAxes(Recording &r, const Axes &axes,
                                     int64_t rank);

} // namespace tessera::detail
