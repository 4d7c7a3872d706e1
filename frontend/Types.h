// Dtypes and shapes as the types of the dialect, and back.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "tessera/DType.h"
#include "tessera/Shape.h"

namespace tessera::detail {

/// The element type, or null for a dtype that ops do not compute with.
mlir::Type elementType(mlir::MLIRContext *context, DType dtype);

DType dtypeFor(mlir::Type element);
inline DType dtypeFor(mlir::Value x) {
  return dtypeFor(
      llvm::cast<mlir::RankedTensorType>(x.getType()).getElementType());
}

inline Shape shapeOf(mlir::Value x) {
  auto dims = llvm::cast<mlir::RankedTensorType>(x.getType()).getShape();
  return Shape(dims.begin(), dims.end());
}

inline llvm::ArrayRef<int64_t> toRef(const Shape &shape) {
  return {shape.begin(), shape.size()};
}

inline mlir::RankedTensorType tensorType(mlir::MLIRContext *context,
                                         DType dtype, const Shape &shape) {
  return mlir::RankedTensorType::get(toRef(shape), elementType(context, dtype));
}

} // namespace tessera::detail
