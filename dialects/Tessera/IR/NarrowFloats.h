// f16 and bf16 in code: 16 bits that are moved about as integers, and computed
// with as f32.
#ifndef TESSERA_IR_NARROWFLOATS_H
#define TESSERA_IR_NARROWFLOATS_H

#include "mlir/IR/Builders.h"

namespace tessera::ir {

/// f16 and bf16.
bool isNarrowFloat(mlir::Type element);

/// The type of an element in the code of kernels: the bits of a narrow float
/// are an i16, every other element is what it is.
mlir::Type registerType(mlir::Type element);

/// A constant element, or vector of `lanes` of them, in that type.
mlir::Value registerConstant(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::TypedAttr element, int64_t lanes);

/// The f32 of the same value as these bits of a narrow float. Exact; any NaN
/// may become another. Of f16 it is an arith.extf, which is expanded for
/// targets without an instruction.
mlir::Value widen(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value bits, mlir::Type narrow);

/// The bits of the narrow float next to a number of type f32, f64 or integer:
/// rounded once, to nearest, ties to even. An arith.truncf of an f32, which is
/// expanded for targets without an instruction that keeps denormals.
mlir::Value roundToNarrow(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value number, mlir::Type narrow);

} // namespace tessera::ir

#endif
