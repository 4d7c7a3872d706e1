// The schedule of a Gemm: register blocks, packing and tiles.
#pragma once
#include "lowering/CPU/Gemm.h"

namespace tessera::lowering::cpu {

enum class Packing { None, Tile, Launch };

/// Everything the emitter decides by measurement rather than by meaning. No
/// field changes the bits of a result.
struct GemmPlan {
  int64_t lanes = 1; ///< Elements of a vector register.

  // Register blocks. Rows are cut into `tallBlocks` blocks of `tallRows` and
  // then blocks of one row fewer, so that no block is much smaller than the
  // others. Columns are cut into blocks of `vectors` registers and one
  // remainder.
  int64_t rowBlocks = 0, tallBlocks = 0, tallRows = 1;
  int64_t vectors = 1;

  // The number of rows depends on a symbol: blocks of `tallRows` rows, then
  // smaller ones. A tile has `tileBlocks` of the former.
  bool rowsGrow = false;

  // Packed operands are panels of a register block. A is packed whole, in a
  // launch of its own; so is B, or each tile packs the columns it has into a
  // buffer on the stack.
  bool packA = false;
  Packing packB = Packing::None;

  // Few rows: rows of B are read one after another, in groups, and every row of
  // A adds its products with a group to sums in memory. Chunks of k are tiles
  // of their own. All the rows are one block.
  bool streams = false;

  // A tile is `tileBlocks` row blocks by `tileColumns` columns, with all of k:
  // at once, or in chunks (`kBlock` is k, or a chunk of it). The totals between
  // chunks wait in the result, or in the workspace.
  int64_t kBlock = 0;
  int64_t tileBlocks = 1, tileColumns = 1;
  bool columnsOuter = false; ///< Within a tile, all row blocks visit a column
                             ///< block before the next column block.

  int64_t prefetchB = 0; ///< How many elements ahead B is prefetched.
  bool prefetchC = false;

  bool splitTail = true;  ///< Store the last columns as vectors of 4, 2 and 1
                          ///< lanes rather than by mask.
  bool storeLoop = false; ///< Run the epilogue as a loop over the register
                          ///< block, spilled to the stack.
};

/// Chooses the schedule. `shape` must not have an empty dimension other than k.
GemmPlan planGemm(const GemmShape &shape, const GemmTarget &target,
                  bool producesA, bool producesB, bool heavyStore);

/// emitGemm with a given schedule, for tests and measurements.
int64_t emitGemm(mlir::ModuleOp module, mlir::Location loc,
                 const GemmKernel &kernel, const GemmTarget &target,
                 const GemmPlan &plan);

} // namespace tessera::lowering::cpu
