// The elements of a fused body along a sequence: computed in vectors, stored,
// and handed to reducers.
#ifndef TESSERA_LOWERING_CPU_REDUCETREEELEMENTS_H
#define TESSERA_LOWERING_CPU_REDUCETREEELEMENTS_H

#include "lowering/CPU/ReduceTree.h"
#include "lowering/Kernels/FusedBody.h"
#include <optional>

namespace tessera::lowering::cpu {

/// Elements at flat places of a memref, from an offset on.
struct Place {
  mlir::Value buffer, offset;
};

/// A value that is computed for each element of a sequence, and where it goes.
struct Root {
  mlir::Value value;
  std::optional<Place> place; ///< None: to the reducer of the same number.
  bool nonTemporal = false;
};

/// Visits elements for a Sequence.
struct Elements {
  /// The index in a value's shape of the sequence's element `position`. Fails
  /// where the lanes of a vector do not stay one arithmetic progression; never
  /// for one lane.
  using IndexOf =
      std::function<llvm::FailureOr<llvm::SmallVector<ir::LaneIndex>>(
          mlir::OpBuilder &b, mlir::Value value, ir::LaneIndex position,
          int64_t lanes)>;

  mlir::Location loc;
  FusedBody &body;
  llvm::ArrayRef<Root> roots; ///< The reducers' operands, then what is stored.
  llvm::ArrayRef<Reducer> reducers;
  IndexOf indexOf;

  llvm::SmallVector<Term> operator()(mlir::OpBuilder &b, ir::LaneIndex first,
                                     int64_t vectors, int64_t lanes) const;

private:
  llvm::FailureOr<llvm::SmallVector<mlir::Value>>
  computeVectors(mlir::OpBuilder &b, ir::LaneIndex first, int64_t vectors,
                 int64_t lanes) const;
  llvm::SmallVector<mlir::Value> computeOneByOne(mlir::OpBuilder &b,
                                                 ir::LaneIndex first,
                                                 int64_t vectors,
                                                 int64_t lanes) const;
  void store(mlir::OpBuilder &b, const Root &root, mlir::Value value,
             mlir::Value position) const;
};

} // namespace tessera::lowering::cpu

#endif
