// Internal to the Gemm emitter: where the tiles of an operand come from.
#pragma once
#include "lowering/GPU/Gemm.h"

namespace tessera::lowering::simt {

/// An operand of the product as its kernel has it: a dense buffer, or a value
/// that is computed.
struct GemmInput {
  mlir::Value value;
  int64_t buffer = -1; ///< The kernel's input that it is, if it is one.

  static GemmInput of(mlir::Value value) { return {value, inputOf(value)}; }
};

/// Tiles of an operand, `extent` lines (rows of A, columns of B) by `depth`
/// steps of k, in accesses of some neighbours in memory each.
///
/// Lines beyond the last are read as the last one, since their sums are not
/// stored; steps beyond the last are `filler`s.
class GemmSource {
public:
  GemmSource(GemmBlock &block, unsigned number, GemmInput input, int64_t extent,
             int64_t depth, int64_t mostBytes, double filler);

  /// Whether the steps of k are neighbours in memory, and not the lines.
  bool isKInnermost() const { return kInnermost; }
  bool isComputed() const { return input.buffer < 0; }
  /// Elements of an access.
  int64_t width() const { return lanes; }
  mlir::Type element() const { return type; }

  /// The first line and step of an access, in the tile.
  struct Access {
    mlir::Value line, step;
  };
  /// Those of this thread, by number.
  int64_t accesses() const { return depth * extent / lanes / block.threads; }
  Access access(int64_t i);

  /// Where the thread's access i to the tile that begins at step `from` is in
  /// the buffer, moved inside; and whether it was, null if it always is.
  struct Place {
    mlir::Value position, exists;
  };
  Place place(mlir::Value from, int64_t i);
  /// Its elements, as a vector if there are several. Not of a computed operand.
  mlir::Value load(mlir::Value from, int64_t i);

  /// Computes all accesses to a tile, this thread's share of them, in a loop
  /// that is built once however many they are.
  void compute(mlir::Value from,
               llvm::function_ref<void(Access, mlir::Value elements)> use);

private:
  mlir::OpBuilder &b() { return block.b(); }
  mlir::Location loc() { return block.loc(); }
  IndexMath math() { return block.math(); }
  int64_t besides() const { return (kInnermost ? depth : extent) / lanes; }
  Access accessOf(mlir::Value inner, mlir::Value outer) {
    return kInnermost ? Access{outer, inner} : Access{inner, outer};
  }
  int64_t lanesOfAccess(int64_t mostBytes) const;
  mlir::Value lineInMemory(int64_t i);
  mlir::Value fillers();
  mlir::Value computeAccess(mlir::Value from, mlir::Value inner,
                            mlir::Value outer);

  GemmBlock &block;
  const unsigned number;
  const GemmInput input;
  const int64_t extent, depth, lines, k;
  const bool kInnermost;
  const mlir::Type type; ///< Of an element in registers.
  const int64_t lanes;
  const double filler;
  mlir::Value inner, outer, firstLine;
  Values linesInMemory; ///< The first element of each access at k = 0.
};

} // namespace tessera::lowering::simt
