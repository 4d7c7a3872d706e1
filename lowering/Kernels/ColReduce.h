// Reductions over leading, all, or any other dimensions: what the emitters of
// all targets share. The kernel's shapes, partial results, and the epilogue.
#ifndef TESSERA_LOWERING_KERNELS_COLREDUCE_H
#define TESSERA_LOWERING_KERNELS_COLREDUCE_H

#include "dialects/Tessera/IR/StandIns.h"
#include "lowering/Kernels/FusedBody.h"
#include "lowering/Kernels/Launch.h"
#include "lowering/Kernels/ReduceTree.h"

namespace tessera::lowering {

/// A kernel whose reductions combine `count` elements, in row-major order of
/// the reduced dimensions, to each element of the result.
struct ColKernel {
  explicit ColKernel(ir::KernelOp kernel) : kernel(kernel) {}

  /// Fails with an error on a kernel that is no column kernel.
  llvm::LogicalResult analyse();

  mutable ir::KernelOp kernel;
  llvm::SmallVector<Reducer> reducers;
  llvm::SmallVector<int64_t> shape;                 ///< Of the operands.
  llvm::SmallVector<int64_t> reducedDims, keptDims; ///< Of `shape`, in order.
  int64_t count = 1, results = 1;

  /// Whether the number of combined elements depends on a symbol.
  bool grows() const { return ir::isSymbolic(count); }
  llvm::SmallVector<int64_t> sizes(llvm::ArrayRef<int64_t> dims) const;
  /// The index in `shape` of element number `at` of a result's.
  llvm::SmallVector<ir::LaneIndex>
  indexOf(mlir::OpBuilder &b, mlir::Value result, ir::LaneIndex at) const;
  ir::YieldOp yield() const {
    return llvm::cast<ir::YieldOp>(kernel.getBody().front().getTerminator());
  }
  /// Whether the innermost dimension of more than one element stays.
  bool keepsInnermost() const;

private:
  llvm::LogicalResult checkEpilogue();
};

/// The launches of a kernel: the first combines chunks of elements, each
/// further one chunks of its predecessor's results, until one chunk is left for
/// each element of the result.
class ColLaunches {
public:
  ColLaunches(const ColKernel &kernel, llvm::StringRef name,
              mlir::ModuleOp module);
  virtual ~ColLaunches() = default;

  void emit();

protected:
  /// Where the count depends on a symbol there are as many levels as the
  /// largest needs; `count` and `chunks` are then meaningless but for decisions
  /// of speed, and countOf() and chunksOf() are what they are at run time.
  /// There always is a chunk that is not full, and may be empty.
  struct Level {
    int64_t count;  ///< Terms that are combined to each element of the result.
    int64_t chunks; ///< Of those.
    int64_t slots = 0; ///< Where the terms lie in the workspace; the first
                       ///< level computes them.
  };

  /// Makes the launch of a level, and ends it.
  virtual void emitLevel(const Level &level, llvm::StringRef name) = 0;
  /// `perChunk` for each chunk or, where that is more than one, for each group
  /// of `chunks` of them.
  runtime::SizeFormula unitsOf(const Level &level, int64_t perChunk,
                               int64_t chunks = 1) const;

  mlir::OpBuilder &b() { return launch->body(); }
  bool isFirst(const Level &level) const { return &level == &levels.front(); }
  bool isLast(const Level &level) const { return &level == &levels.back(); }
  /// The buffers of the terms that a level reads.
  llvm::SmallVector<TermBuffer> slots(const Level &level);
  const Level &next(const Level &level) const { return (&level)[1]; }
  mlir::Value countOf(const Level &level);
  mlir::Value chunksOf(const Level &level);
  /// x times countOf() or chunksOf() of a level.
  ir::LaneIndex timesCount(ir::LaneIndex x, const Level &level);
  ir::LaneIndex timesChunks(ir::LaneIndex x, const Level &level);

  /// Computes the outputs from the reduced values: `lanes` neighbouring
  /// results, the first at flat position `position` and at index `index` of the
  /// result.
  void storeResults(llvm::ArrayRef<Term> terms, mlir::Value position,
                    llvm::ArrayRef<ir::LaneIndex> index, int64_t lanes);

  const ColKernel &kernel;
  mlir::ModuleOp module;
  runtime::SizeFormula workspace;
  std::unique_ptr<KernelFunction> launch;
  std::optional<FusedBody> body;

private:
  void makeLevels();
  void makeGrowingLevels();
  runtime::SizeFormula termsOf(int64_t depth, int64_t times,
                               int64_t together = 1) const;
  mlir::Value termsValue(int64_t depth);
  llvm::SmallVector<TermBuffer> growingSlots(const Level &level);
  void supplyResult(const Reducer &reducer, Term term, mlir::Value position,
                    int64_t lanes);

  llvm::StringRef name;
  llvm::SmallVector<Level> levels;
};

} // namespace tessera::lowering

#endif
