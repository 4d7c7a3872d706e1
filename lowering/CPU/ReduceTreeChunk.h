// The state of a reduction while a chunk of neighbouring elements is walked.
#ifndef TESSERA_LOWERING_CPU_REDUCETREECHUNK_H
#define TESSERA_LOWERING_CPU_REDUCETREECHUNK_H

#include "lowering/Kernels/ReduceTree.h"

namespace tessera::lowering::cpu {

/// Registers in which an extremum of floats is carried, so that they do not
/// wait for each other.
constexpr int64_t kExtrema = 2;

/// Combines neighbours along vectors: the state of one reducer while a chunk is
/// walked.
class ChunkState {
public:
  ChunkState(const Reducer &reducer, int64_t lanes)
      : reducer(reducer), lanes(lanes) {}

  /// Starts a chunk.
  void start(mlir::OpBuilder &b, int64_t vectorsPerStep);
  /// Takes the next vectors; their number is vectorsPerStep(), a multiple of 4
  /// for ordered reductions.
  void step(mlir::OpBuilder &b, llvm::ArrayRef<Term> vectors);
  /// The chunk's result as scalars.
  Term finish(mlir::OpBuilder &b);

  /// The carried values, to hand through a loop.
  llvm::SmallVector<mlir::Value> values() const;
  void setValues(mlir::ValueRange values);
  /// Tells that a loop ran `steps` more steps than were built.
  void skipSteps(int64_t steps) { blocks += steps * blocksPerStep; }

private:
  void startExtremum(mlir::OpBuilder &b);
  void stepExtremum(mlir::OpBuilder &b, llvm::ArrayRef<Term> vectors);
  Term finishExtremum(mlir::OpBuilder &b);
  Term addGroups(mlir::OpBuilder &b, llvm::ArrayRef<Term> vectors);
  Term foldVector(mlir::OpBuilder &b, Term vector);

  const Reducer &reducer;
  int64_t lanes, blocksPerStep = 1, blocks = 0;
  /// Of an extremum of floats: values, signs and NaNs, kExtrema of each.
  llvm::SmallVector<Term> registers;
  /// The place of each group in a register, the same in all.
  llvm::SmallVector<int64_t> order;
};

} // namespace tessera::lowering::cpu

#endif
