// What a row kernel computes in which walk over its rows.
#ifndef TESSERA_LOWERING_KERNELS_ROWREDUCEPLAN_H
#define TESSERA_LOWERING_KERNELS_ROWREDUCEPLAN_H

#include "dialects/Tessera/IR/Tessera.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace tessera::lowering {

/// How the kernel reads a value while it is at element j of row r: a set of
/// these.
enum Access : unsigned {
  kRow = 1,    ///< At flat position r: one element for each row.
  kFull = 2,   ///< At r * cols + j: one element for each element of a row.
  kColumn = 4, ///< At j: the same for all rows.
  kSingle = 8, ///< Its only element.
  kOther = 16, ///< Anywhere.
};

/// One walk over a row.
struct RowPass {
  llvm::SmallVector<ir::ReduceOp> reduces;
  /// Outputs of an element for each of the row's that the pass stores.
  llvm::SmallVector<unsigned> outputs;
  /// Values that later passes need and that are too costly to compute again.
  llvm::SmallVector<mlir::Value> kept;
  /// Inputs of an element for each of the row's that no pass before has read.
  llvm::SmallVector<unsigned> streams;
  /// About the number of instructions for a vector of elements.
  int64_t cost = 0;
};

class RowPlan {
public:
  explicit RowPlan(ir::KernelOp kernel) : kernel(kernel) {}

  /// Fails with an error on a kernel that is no row kernel.
  llvm::LogicalResult analyse();

  int64_t rows = 1, cols = 1;
  std::vector<RowPass> passes;
  /// The outputs' values, or what they are reshapes of.
  llvm::SmallVector<mlir::Value> outputs;
  /// Values of one element a row that walks read; each is available after
  /// `level` passes.
  llvm::SmallVector<mlir::Value> rowValues;
  llvm::SmallVector<unsigned> rowOutputs;
  int64_t runLength = 1; ///< Of the runs in a row, see Runs.h.

  int level(mlir::Value value) const { return levels.lookup(value); }
  /// The number of leading dimensions of `shape` that number the rows, if its
  /// elements are those of the rows.
  std::optional<int64_t> rowRank(llvm::ArrayRef<int64_t> shape) const;
  /// The index in a value's shape of element `position` of a row.
  llvm::SmallVector<ir::LaneIndex> indexOf(mlir::OpBuilder &b,
                                           mlir::Value value, mlir::Value row,
                                           ir::LaneIndex position) const;
  /// The index in the shape of a value that has one element a row.
  static llvm::SmallVector<ir::LaneIndex>
  indexOfRow(mlir::OpBuilder &b, mlir::Value value, mlir::Value row);
  /// Of an index in the shape of a value of rows, the position in the row.
  ir::LaneIndex positionInRow(ir::LaneMath &lane, mlir::Value value,
                              llvm::ArrayRef<ir::LaneIndex> index) const;

private:
  llvm::LogicalResult findSpace();
  llvm::LogicalResult findAccesses();
  void readOperands(mlir::Operation &op, unsigned access);
  unsigned throughBroadcast(ir::BroadcastOp op, unsigned access) const;
  void findPasses();
  void findKept();
  void walk(mlir::Value value, int pass,
            llvm::SmallDenseSet<mlir::Value> &seen);
  int64_t costOf(mlir::Value value,
                 llvm::SmallDenseSet<mlir::Value> &seen) const;

  ir::KernelOp kernel;
  llvm::SmallVector<int64_t> space; ///< The shape that is reduced.
  int64_t kept = 0;                 ///< Its leading dimensions, which stay.
  llvm::DenseMap<mlir::Value, unsigned> accesses;
  llvm::DenseMap<mlir::Value, int> levels, computedIn;
  llvm::SmallDenseSet<mlir::Value> isKept;
};

} // namespace tessera::lowering

#endif
