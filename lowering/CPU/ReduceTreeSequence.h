// Walks a sequence of neighbouring elements in vectors, with reductions along
// it.
#ifndef TESSERA_LOWERING_CPU_REDUCETREESEQUENCE_H
#define TESSERA_LOWERING_CPU_REDUCETREESEQUENCE_H

#include "lowering/Kernels/ReduceTree.h"
#include <functional>

namespace tessera::lowering::cpu {

/// Chunks side by side, for memory's sake.
constexpr int64_t kTreeStreams = 4;

/// Elements 0 .. n - 1, each of which is visited once or, where `mayRepeat`
/// says so, a few of them twice.
class Sequence {
public:
  /// Computes `vectors` neighbouring vectors of `lanes` elements, the first
  /// element being number `first`, and does whatever else is to be done there.
  /// Returns the terms of reducer r in vector v at [r * vectors + v].
  using Visit = std::function<llvm::SmallVector<Term>(
      mlir::OpBuilder &b, ir::LaneIndex first, int64_t vectors, int64_t lanes)>;

  Sequence(mlir::Location loc, llvm::ArrayRef<Reducer> reducers, int64_t lanes,
           int64_t vectorsPerStep, Visit visit)
      : loc(loc), reducers(reducers), lanes(lanes),
        vectorsPerStep(vectorsPerStep), visit(std::move(visit)) {}

  bool mayRepeat = true;
  /// No more than kTreeChunk elements are visited at once, whatever the
  /// reducers.
  bool inChunks = false;
  /// If set, is called before what belongs to one of several sequences that are
  /// walked side by side is visited.
  std::function<void(size_t sequence)> select;
  /// If set, is called with each chunk before its elements are visited; without
  /// reducers with all elements, and none is visited then.
  std::function<void(mlir::OpBuilder &b, ir::LaneIndex begin, int64_t length)>
      prepare;

  /// Visits elements [begin, begin + count), of which at least `before` others
  /// come before them. With reducers count is at most kTreeChunk, and the
  /// result is the chunk's term of each.
  llvm::SmallVector<Term> chunk(mlir::OpBuilder &b, ir::LaneIndex begin,
                                int64_t count, int64_t before = 0) const;
  /// The same for several chunks, step by step side by side: memory delivers
  /// several streams faster than one. Returns the term of reducer r in chunk c
  /// at [c * reducers + r].
  llvm::SmallVector<Term> chunks(mlir::OpBuilder &b,
                                 llvm::ArrayRef<ir::LaneIndex> begins,
                                 int64_t count, int64_t before = 0) const;

  /// Visits all of `count` elements, chunk by chunk, and combines them.
  /// `partials` has room for partialCount() terms of each reducer. Several
  /// `sequences` are walked side by side, each with partials of its own; the
  /// results are ordered by sequence, then by reducer.
  llvm::SmallVector<Term> all(mlir::OpBuilder &b, int64_t count,
                              llvm::ArrayRef<TermBuffer> partials,
                              size_t sequences = 1) const;

private:
  llvm::SmallVector<Term> tail(mlir::OpBuilder &b, ir::LaneIndex at,
                               int64_t count, int64_t before) const;
  llvm::SmallVector<Term> partialVector(mlir::OpBuilder &b, ir::LaneIndex at,
                                        int64_t count, int64_t before) const;

  mlir::Location loc;
  llvm::ArrayRef<Reducer> reducers;
  int64_t lanes, vectorsPerStep;
  Visit visit;
};

/// Partial results of a sequence of `count` elements: its chunks, or 0 if there
/// is one only. Where the order does not matter, all are one chunk, unless
/// chunks are asked for.
int64_t partialCount(llvm::ArrayRef<Reducer> reducers, int64_t count,
                     bool inChunks);

/// Combines `count` terms in memory to one of each reducer; uses up the
/// buffers.
llvm::SmallVector<Term> combinePartials(mlir::OpBuilder &b, mlir::Location loc,
                                        llvm::ArrayRef<Reducer> reducers,
                                        int64_t lanes,
                                        llvm::ArrayRef<TermBuffer> partials,
                                        int64_t count);

} // namespace tessera::lowering::cpu

#endif
