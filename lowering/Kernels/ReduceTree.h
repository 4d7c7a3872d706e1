// The arithmetic of reductions by the fixed tree of the floating-point
// contract.
#ifndef TESSERA_LOWERING_KERNELS_REDUCETREE_H
#define TESSERA_LOWERING_KERNELS_REDUCETREE_H

#include "dialects/Tessera/IR/Tessera.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace tessera::lowering {

/// The tree's constants: elements of a chunk, neighbours of a group, lanes that
/// the groups of a chunk go to in turn.
constexpr int64_t kTreeChunk = 1024, kTreeGroup = 4, kTreeLanes = 16;

/// What a reduction carries for an element or for many: a value and, for
/// arg-reductions, its position. Both are scalars, or vectors of one number of
/// lanes.
struct Term {
  mlir::Value value, position;
};

/// The combining of one `tessera.reduce` op.
class Reducer {
public:
  /// `size` is the number of elements that are combined to one.
  Reducer(ir::ReduceOp op, int64_t size);

  ir::ReduceOp getOp() const { return op; }
  /// Whether the tree's order shows in the result.
  bool isOrdered() const;
  /// Whether it is a maximum or minimum of floats.
  bool isRealExtremum() const;
  bool isMaximum() const { return kind == ir::Reduction::max; }
  bool hasPositions() const { return kind == ir::Reduction::argmax; }
  /// Element types in which values and positions are carried, in registers and
  /// in memory: bools are bytes.
  mlir::Type accumulator() const { return element; }
  mlir::Type positionType() const { return positions; }
  /// Bytes of one term in memory.
  int64_t bytes() const;

  /// Elements of the operand as they are carried; the first lane is number
  /// `position` among those that are combined.
  Term load(mlir::OpBuilder &b, mlir::Value operand,
            ir::LaneIndex position) const;
  /// The term as an element of the op's result.
  mlir::Value result(mlir::OpBuilder &b, Term term) const;
  /// The result over no elements.
  mlir::Value resultOfNothing(mlir::OpBuilder &b) const;

  Term identity(mlir::OpBuilder &b, int64_t lanes) const;
  /// `later` comes after `earlier` in the order of the elements.
  Term combine(mlir::OpBuilder &b, Term earlier, Term later) const;
  /// For terms whose elements interleave.
  Term fold(mlir::OpBuilder &b, Term x, Term y) const;
  /// The term of a list that stands for the lanes of a chunk: l += l + 8, + 4,
  /// + 2, + 1. Missing lanes are skipped.
  Term foldLanes(mlir::OpBuilder &b, llvm::SmallVector<Term> lanes) const;

private:
  ir::ReduceOp op;
  ir::Reduction kind;
  mlir::Location loc;
  mlir::Type element, positions, resultElement;
};

/// Where partial results lie in memory: a memref of values and one of
/// positions, or null.
struct TermBuffer {
  mlir::Value values, positions;

  Term load(mlir::OpBuilder &b, mlir::Location loc, mlir::Value at,
            int64_t lanes) const;
  void store(mlir::OpBuilder &b, mlir::Location loc, Term term,
             mlir::Value at) const;
};

/// Lays the terms of a reducer out in memory: `part(before, element)` makes the
/// buffer that begins where `before` bytes a term come before it.
TermBuffer layOut(
    const Reducer &reducer,
    llvm::function_ref<mlir::Value(int64_t before, mlir::Type element)> part);

/// Builds `for (i = low; i < high; i += step)` with `carried` handed from turn
/// to turn; `body` returns their next values. The builder is inside the loop
/// meanwhile, and after it on return.
llvm::SmallVector<mlir::Value> buildLoop(
    mlir::OpBuilder &b, mlir::Location loc, mlir::Value low, mlir::Value high,
    int64_t step, mlir::ValueRange carried,
    llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value i,
                                                      mlir::ValueRange carried)>
        body);
void buildLoop(mlir::OpBuilder &b, mlir::Location loc, mlir::Value low,
               mlir::Value high, int64_t step,
               llvm::function_ref<void(mlir::Value i)> body);
/// Builds `if (condition) yes else no`; no may be null.
void buildIf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value condition,
             llvm::function_ref<void()> yes,
             llvm::function_ref<void()> no = nullptr);

/// A stack buffer of the function that `b` builds in, made once at its entry.
mlir::Value stackBuffer(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Type element, int64_t count);
TermBuffer stackTerms(mlir::OpBuilder &b, const Reducer &reducer,
                      int64_t count);
/// A part of a workspace as a memref.
mlir::Value workspacePart(mlir::OpBuilder &b, mlir::Location loc,
                          mlir::Value workspace, mlir::Value byteOffset,
                          mlir::Type element, int64_t count);

} // namespace tessera::lowering

#endif
