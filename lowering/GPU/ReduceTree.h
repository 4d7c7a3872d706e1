// The fixed tree of reductions, by the threads of a block.
//
// A chunk of 1,024 elements is reduced by 16 threads: each is one of the tree's
// lanes and combines the groups of four elements that go to it, in order; then
// the lanes fold. So a warp has two chunks in hand.
#ifndef TESSERA_LOWERING_GPU_REDUCETREE_H
#define TESSERA_LOWERING_GPU_REDUCETREE_H

#include "lowering/Kernels/ReduceTree.h"
#include <functional>

namespace tessera::lowering::simt {

/// Elements of a chunk that 16 threads take in one turn.
constexpr int64_t kTurn = kTreeGroup * kTreeLanes;

/// The terms of every reducer for `lanes` neighbouring elements, which all are
/// there.
using TermsAt = std::function<llvm::SmallVector<Term>(
    mlir::OpBuilder &b, ir::LaneIndex first, int64_t lanes)>;

/// A sequence of elements: `count` is how many there are, which may be a
/// number of symbols.
struct Sequence {
  mlir::Location loc;
  llvm::ArrayRef<Reducer> reducers;
  int64_t count;
  /// The same at run time, where it is no constant.
  mlir::Value length;
  /// Groups of four come as one vector.
  bool hasVectors;
  TermsAt at;

  mlir::Value lengthOf(mlir::OpBuilder &b) const;
};

/// What one thread, `treeLane` of its chunk, comes to; `begin` is the chunk's
/// first element, which may lie behind the sequence's end.
llvm::SmallVector<Term> combineLane(mlir::OpBuilder &b,
                                    const Sequence &elements, mlir::Value begin,
                                    mlir::Value treeLane);

/// Visits the elements that combineLane() combines: `visit` is called in a loop
/// with the first of `lanes` neighbouring ones.
void forElements(
    mlir::OpBuilder &b, const Sequence &elements, mlir::Value begin,
    mlir::Value treeLane,
    llvm::function_ref<void(ir::LaneIndex first, int64_t lanes)> visit);

/// Folds the lanes of a chunk, which are 16 neighbouring threads; all threads
/// of the warp take part. Thread 0 of the 16 has the chunk's term afterwards.
Term foldThreads(mlir::OpBuilder &b, mlir::Location loc, const Reducer &reducer,
                 Term term);

/// The term of the first of the 16 threads, for all of them.
Term broadcastTerm(mlir::OpBuilder &b, mlir::Location loc, Term term);

} // namespace tessera::lowering::simt

#endif
