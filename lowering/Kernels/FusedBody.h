// Values of a kernel region at an index: emitters ask for an element, and the
// ops that make it are pulled in.
#ifndef TESSERA_LOWERING_KERNELS_FUSEDBODY_H
#define TESSERA_LOWERING_KERNELS_FUSEDBODY_H

#include "dialects/Tessera/IR/Tessera.h"
#include "llvm/ADT/DenseSet.h"
#include <functional>

namespace tessera::lowering {

/// The type under which elements lie in memory: a bool is a byte, a narrow
/// float its bits.
mlir::Type storageType(mlir::Type element);

/// Converts between an element (or vector of them) and its form in memory.
mlir::Value toStorage(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value value);
mlir::Value fromStorage(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value value, mlir::Type element);

/// `lanes` elements of a flat memref from `position` on, as a scalar for one
/// lane. Each step is handled by the cheapest instruction: a splat for 0, one
/// load for 1 and -1, a load a lane otherwise. Where `mask` is not null only
/// its lanes are read; the first always is one of them. `isAligned` says that
/// the buffer is aligned to any vector.
mlir::Value loadLanes(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value buffer, ir::LaneIndex position, int64_t lanes,
                      mlir::Type element, mlir::Value mask = {},
                      bool isAligned = false);

/// Stores a scalar or vector to a flat memref. A non-temporal store passes the
/// caches by; its place is aligned to the vector. Where `mask` is not null only
/// its lanes are written. `isAligned` says that the place is aligned too.
void storeLanes(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                mlir::Value buffer, mlir::Value position,
                bool nonTemporal = false, mlir::Value mask = {},
                bool isAligned = false);

/// The body of a kernel as a function of the index.
class FusedBody {
public:
  /// Provides a value of the region from elsewhere: an accumulator, a row's
  /// reduced value, a scratch row.
  using Supply =
      std::function<mlir::Value(mlir::OpBuilder &, mlir::Location,
                                llvm::ArrayRef<ir::LaneIndex>, int64_t lanes)>;

  /// `inputs` are the flat memrefs of the kernel's inputs.
  FusedBody(ir::KernelOp kernel, mlir::ValueRange inputs)
      : kernel(kernel), inputs(inputs) {}

  ir::KernelOp getKernel() const { return kernel; }
  /// The inputs are aligned to any vector, so that vectors of them are where
  /// their position is a multiple of their lanes.
  void alignBuffers() { isAligned = true; }
  void supply(mlir::Value value, Supply supply) {
    supplies[value] = std::move(supply);
  }
  /// Provides a value whose elements, as far as they are asked for, are one.
  void supplyScalar(mlir::Value value, mlir::Value scalar);
  void forget(mlir::Value value) { supplies.erase(value); }

  /// Elements computed at one place of the code. A frame remembers what it has
  /// built, so that a value that is needed twice at one index is computed once;
  /// it must not outlive the block that it builds in.
  class Frame {
  public:
    /// Only the lanes of `mask`, if there is one, exist; the others must not be
    /// read from memory.
    Frame(FusedBody &body, mlir::OpBuilder &builder, mlir::Value mask = {})
        : body(body), builder(builder), mask(mask) {}

    /// The element of `value` at `index`, or a vector of `lanes` of them.
    mlir::Value at(mlir::Value value, llvm::ArrayRef<ir::LaneIndex> index,
                   int64_t lanes);

  private:
    struct OpInfo : llvm::DenseMapInfo<mlir::Operation *> {
      static unsigned getHashValue(const mlir::Operation *op);
      static bool isEqual(const mlir::Operation *a, const mlir::Operation *b);
    };
    mlir::Value unique(mlir::Value base);
    mlir::Value compute(mlir::Operation *op,
                        llvm::ArrayRef<ir::LaneIndex> index, int64_t lanes);
    mlir::Value laneByLane(mlir::Value value,
                           llvm::ArrayRef<ir::LaneIndex> index, int64_t lanes);
    mlir::Value loadInput(mlir::BlockArgument argument,
                          llvm::ArrayRef<ir::LaneIndex> index, int64_t lanes);

    FusedBody &body;
    mlir::OpBuilder &builder;
    mlir::Value mask;
    llvm::DenseSet<mlir::Operation *, OpInfo> indexOps;
    std::map<std::vector<const void *>, mlir::Value> memo;
  };

private:
  ir::KernelOp kernel;
  llvm::SmallVector<mlir::Value> inputs;
  llvm::DenseMap<mlir::Value, Supply> supplies;
  bool isAligned = false;
};

} // namespace tessera::lowering

#endif
