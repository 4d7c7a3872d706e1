// Positions of several neighbouring elements at once, as emitters hand them to
// indexing ops.
#ifndef TESSERA_IR_LANEINDEX_H
#define TESSERA_IR_LANEINDEX_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace tessera::ir {

/// One dimension of an index: lane l stands at `base + l * step`. `base` is a
/// scalar of index type, known to be a multiple of `divisor` (0 for a base that
/// is zero).
struct LaneIndex {
  mlir::Value base;
  int64_t step = 0;
  int64_t divisor = 1;
};

/// Fetches an operand's element (or vector of lanes) at an index.
using ReadOperand = llvm::function_ref<mlir::Value(
    unsigned operand, llvm::ArrayRef<LaneIndex> index)>;

/// Arithmetic on indices that keeps steps and divisors.
class LaneMath {
public:
  LaneMath(mlir::OpBuilder &builder, mlir::Location loc)
      : b(builder), loc(loc) {}

  mlir::Value number(int64_t value);
  LaneIndex constant(int64_t value) { return {number(value), 0, value}; }
  LaneIndex add(LaneIndex a, LaneIndex b);
  LaneIndex addConstant(LaneIndex a, int64_t c);
  LaneIndex mulConstant(LaneIndex a, int64_t c);
  /// Division and remainder of the base, for an index whose lanes stand still.
  mlir::Value divide(mlir::Value a, int64_t c),
      remainder(mlir::Value a, int64_t c);
  /// The base moved into [0, size).
  mlir::Value clamp(mlir::Value a, int64_t size);
  /// low <= a < high as one i1.
  mlir::Value inside(mlir::Value a, int64_t low, int64_t high);
  /// The row-major position of `index` in `shape`.
  LaneIndex linearize(llvm::ArrayRef<LaneIndex> index,
                      llvm::ArrayRef<int64_t> shape);
  /// The index in `shape` of a row-major position. Fails where lanes would
  /// cross a row.
  llvm::FailureOr<llvm::SmallVector<LaneIndex>>
  delinearize(LaneIndex position, llvm::ArrayRef<int64_t> shape, int64_t lanes);

private:
  mlir::OpBuilder &b;
  mlir::Location loc;
};

/// The index as a value of integer type `element`, or a vector of it where
/// `lanes` > 1.
mlir::Value materialize(mlir::OpBuilder &builder, mlir::Location loc,
                        LaneIndex index, int64_t lanes, mlir::Type element);

} // namespace tessera::ir

#endif
