// The elements of a fused body along a sequence: computed in vectors, stored,
// and handed to reducers.
#ifndef TESSERA_LOWERING_CPU_REDUCETREEELEMENTS_H
#define TESSERA_LOWERING_CPU_REDUCETREEELEMENTS_H

#include "lowering/Kernels/FusedBody.h"
#include "lowering/Kernels/ReduceTree.h"
#include "lowering/Kernels/Runs.h"
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

/// How far ahead of its use memory is fetched.
constexpr int64_t kFetchAhead = 2048;
/// Prefetches `bytes` of a buffer, which may lie behind its end, into the first
/// cache.
void fetchMemory(mlir::OpBuilder &b, mlir::Value buffer, ir::LaneIndex from,
                 int64_t bytes);

/// Visits elements for a Sequence. Its elements come in runs of equal length,
/// inside which an index moves in its innermost dimension alone.
struct Elements {
  /// The index in a value's shape of the sequence's element `position`, the
  /// first of a run.
  using RunStart = std::function<llvm::SmallVector<ir::LaneIndex>(
      mlir::OpBuilder &b, mlir::Value value, mlir::Value position)>;

  Elements(mlir::Location loc, FusedBody &body, llvm::ArrayRef<Root> roots,
           llvm::ArrayRef<Reducer> reducers, int64_t count, int64_t lanes,
           int64_t runLength, RunStart runStart)
      : loc(loc), body(body), roots(roots), reducers(reducers), count(count),
        lanes(lanes), runLength(runLength), runStart(std::move(runStart)) {}

  mlir::Location loc;
  FusedBody &body;
  llvm::ArrayRef<Root> roots; ///< The reducers' operands, then what is stored.
  llvm::ArrayRef<Reducer> reducers;
  int64_t count, lanes;
  int64_t runLength; ///< `count` if the sequence is one run.
  RunStart runStart;
  /// Elements may be computed twice: none is stored over what it is made of.
  bool mayRepeat = true;
  /// Memory that lies in the order of the elements and is to be fetched ahead,
  /// by some elements or, where that is 0, by kFetchAhead bytes.
  struct Stream {
    mlir::Value buffer, offset;
    int64_t ahead = 0;
  };
  llvm::SmallVector<Stream> streams;

  /// Whether vectors never cross runs, and runs are long. If not, elements are
  /// computed ahead of a visit, by prepare().
  static bool isDirect(llvm::ArrayRef<Reducer> reducers, int64_t count,
                       int64_t lanes, int64_t runLength);
  bool isDirect() const { return isDirect(reducers, count, lanes, runLength); }

  /// Computes and stores elements [begin, begin + length), for visits of them.
  void prepare(mlir::OpBuilder &b, ir::LaneIndex begin, int64_t length) {
    prepareGroup(b, begin, length, 1, {}, nullptr);
  }
  /// The same for `members` sequences, at most `most`, whose runs lie side by
  /// side in memory. `select` is called with the number of each, where it is
  /// computed; before it is visited, call selectStage().
  void prepareGroup(mlir::OpBuilder &b, ir::LaneIndex begin, int64_t length,
                    int64_t most, mlir::Value members,
                    llvm::function_ref<void(mlir::Value member)> select);
  void selectStage(mlir::OpBuilder &b, mlir::Value member);
  /// Puts neutral elements behind the sequence's end, where a chunk that was
  /// prepared for `length` elements has fewer.
  void fillUp(mlir::OpBuilder &b, ir::LaneIndex begin, int64_t length) const;

  llvm::SmallVector<Term> visit(mlir::OpBuilder &b, ir::LaneIndex first,
                                int64_t vectors, int64_t width) const;

private:
  using Index = llvm::SmallVector<ir::LaneIndex>;
  void computeRun(mlir::OpBuilder &b, mlir::Value run, mlir::Value begin,
                  mlir::Value end) const;
  mlir::Value endOf(mlir::OpBuilder &b, ir::LaneIndex begin,
                    int64_t length) const;
  mlir::Value placeInStage(mlir::OpBuilder &b, mlir::Value element) const;
  void computeInRun(mlir::OpBuilder &b, mlir::Value run,
                    llvm::ArrayRef<Index> starts, mlir::Value offset,
                    int64_t width) const;
  bool takesWholeRuns() const;
  int64_t stageMargin() const;
  int64_t stageSize() const { return kTreeChunk + 2 * stageMargin(); }
  llvm::SmallVector<mlir::Value> compute(mlir::OpBuilder &b,
                                         ir::LaneIndex first, int64_t vectors,
                                         int64_t width) const;
  void prefetch(mlir::OpBuilder &b, mlir::Value first, int64_t length) const;
  void store(mlir::OpBuilder &b, const Root &root, mlir::Value value,
             mlir::Value position) const;

  llvm::SmallVector<mlir::Value> stages; ///< The reducers' prepared elements.
  mlir::Value stagesBegin; ///< The element at position 0 of a stage.
  mlir::Value stageOffset; ///< Of the member at hand; null for the first.
};

} // namespace tessera::lowering::cpu

#endif
