// What the Gemm emitters of all targets ask of a kernel: its one product, the
// ops before it, which make its operands, and those after it, its epilogue.
#ifndef TESSERA_LOWERING_KERNELS_PRODUCTKERNEL_H
#define TESSERA_LOWERING_KERNELS_PRODUCTKERNEL_H

#include "dialects/Tessera/Transforms/SimplifyProducts.h"
#include "lowering/Kernels/GemmContract.h"

namespace tessera::lowering {

/// A kernel of the gemm kind.
struct ProductKernel {
  ir::KernelOp kernel;
  ir::DotGeneralOp product;
  ir::ProductDims a, b;
  GemmShape shape;

  /// Emits an error on a kernel that is none.
  static llvm::FailureOr<ProductKernel> of(ir::KernelOp kernel);

  mlir::Value operand(unsigned number) const;
  mlir::Value result() const;
  /// The values that the kernel's outputs are.
  mlir::ValueRange yielded() const;

  /// The index in an operand's shape of coordinates in its storage order:
  /// batch, row and column of the matrix as it lies in memory. Fails where
  /// lanes would cross a row of a dimension.
  llvm::FailureOr<llvm::SmallVector<ir::LaneIndex>>
  operandIndex(ir::LaneMath &lane, unsigned operand, ir::LaneIndex batch,
               ir::LaneIndex row, ir::LaneIndex column, int64_t lanes) const;
  /// The same in the result's shape.
  llvm::FailureOr<llvm::SmallVector<ir::LaneIndex>>
  resultIndex(ir::LaneMath &lane, ir::LaneIndex batch, ir::LaneIndex row,
              ir::LaneIndex column, int64_t lanes) const;
};

/// The kernel's input that a value in its region is, seen through ops that keep
/// every element's place in memory; -1 if it is computed.
int64_t inputOf(mlir::Value value);

/// The f16 or bf16 tensor that an operand is the f32 of, seen through the same
/// ops; null if there is none.
mlir::Value narrowSource(mlir::Value operand);

} // namespace tessera::lowering

#endif
