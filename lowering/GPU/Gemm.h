// Internal to the Gemm emitter: the code of one block, which computes a tile of
// the result, and what its ways to compute share.
#pragma once
#include "dialects/Tessera/IR/StandIns.h"
#include "lowering/CodeGen/GpuTarget.h"
#include "lowering/GPU/BlockLaunch.h"
#include "lowering/Kernels/FusedBody.h"
#include "lowering/Kernels/ProductKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tessera::lowering::simt {

using Values = llvm::SmallVector<mlir::Value>;

/// Arithmetic on non-negative numbers of the index type, at the builder's
/// place. What changes nothing makes no op.
class IndexMath {
public:
  IndexMath(mlir::OpBuilder &builder, mlir::Location loc)
      : b(builder), loc(loc) {}

  mlir::Value number(int64_t value) const;
  mlir::Value add(mlir::Value x, mlir::Value y) const;
  mlir::Value add(mlir::Value x, int64_t y) const;
  mlir::Value mul(mlir::Value x, int64_t y) const;
  mlir::Value div(mlir::Value x, int64_t y) const;
  mlir::Value rem(mlir::Value x, int64_t y) const;
  mlir::Value min(mlir::Value x, int64_t y) const;
  mlir::Value bitAnd(mlir::Value x, int64_t y) const;
  mlir::Value bitXor(mlir::Value x, mlir::Value y) const;
  mlir::Value less(mlir::Value x, int64_t y) const;
  /// Of two conditions, each of which may be null if it always holds.
  mlir::Value both(mlir::Value x, mlir::Value y) const;

private:
  mlir::OpBuilder &b;
  mlir::Location loc;
};

/// Builds a loop of which values are carried from step to step.
Values carry(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value low,
             mlir::Value high, int64_t step, Values init,
             llvm::function_ref<Values(mlir::Value, mlir::ValueRange)> body);

/// A constant of a number or vector type; integers are 0.
mlir::Value splat(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type,
                  double value);

/// The sum of sums of products, floats or integers.
mlir::Value addSums(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
                    mlir::Value y);

/// Neighbours in a row of the result that a thread stores at once: as many as
/// fill 128 bits of the widest of the elements.
int64_t lanesOfResult(const ProductKernel &source);

/// Computes the kernel's outputs for `sum`, of lanesOfResult() elements from
/// `column` on, in their compute type, and stores them.
void storeResults(BlockLaunch &launch, const ProductKernel &source,
                  mlir::Value batch, mlir::Value row, mlir::Value column,
                  mlir::Value sum);

/// The type that a product's elements are computed in: narrow integers as i32,
/// of which the low bits are the same.
mlir::Type computeType(mlir::Type element);

/// Blocks that a GPU of middling size runs side by side.
constexpr int64_t kMultiprocessors = 128;

/// Of the choices for a tile, each with the part of the peak that it reaches
/// where there are blocks enough, the one that is done first. A GPU runs some
/// blocks side by side: a large tile is read less often, small ones are more.
template <typename Choice>
const Choice &chooseTile(llvm::ArrayRef<Choice> choices, const GemmShape &shape,
                         int64_t chunks = 1) {
  auto time = [&](const Choice &choice) {
    auto tiles = [](int64_t size, int64_t tile) {
      return llvm::divideCeil(std::max<int64_t>(ir::likely(size), 1), tile);
    };
    int64_t blocks = chunks * std::max<int64_t>(ir::likely(shape.batch), 1) *
                     tiles(shape.m, choice.tile.rows) *
                     tiles(shape.n, choice.tile.columns);
    return double(llvm::divideCeil(blocks, kMultiprocessors)) *
           double(choice.tile.rows * choice.tile.columns) / choice.efficiency;
  };
  return *std::min_element(
      choices.begin(), choices.end(),
      [&](const Choice &x, const Choice &y) { return time(x) < time(y); });
}

/// The kernel function of a product, in which each block computes a tile of
/// `rows` by `columns`. The grid holds the tiles of all batches.
///
/// If the sums of `chunks` parts of k are to be computed apart, it holds the
/// tiles of each, and they go to the workspace: another launch, made by
/// emitChunkSums(), adds them.
class GemmBlock {
public:
  GemmBlock(const ProductKernel &source, llvm::StringRef name,
            mlir::ModuleOp module, int64_t rows, int64_t columns,
            int64_t threads, int64_t sharedBytes, int64_t chunks = 1);

  const ProductKernel &source;
  const int64_t rows, columns, threads, chunks;
  BlockLaunch launch;
  /// The place of the tile: its part of k, its batch, and the first row and
  /// column.
  mlir::Value chunk, batch, firstRow, firstColumn;

  const GemmShape &shape() const { return source.shape; }
  mlir::OpBuilder &b() { return launch.body(); }
  mlir::Location loc() const { return launch.loc(); }
  IndexMath math() { return {b(), loc()}; }

  /// `count` elements of the shared memory, from a byte of it on.
  mlir::Value shared(mlir::Type element, int64_t count, int64_t fromByte = 0);

  Values loop(mlir::Value low, mlir::Value high, int64_t step, Values init,
              llvm::function_ref<Values(mlir::Value, mlir::ValueRange)> body) {
    return carry(b(), loc(), low, high, step, std::move(init), body);
  }
  /// Values of one type each that are computed either way.
  Values choose(mlir::Value condition, llvm::function_ref<Values()> then,
                llvm::function_ref<Values()> otherwise);

  /// Computes the kernel's outputs from the tile's sums and ends the function.
  /// The sums go through shared memory, so that the epilogue is built once and
  /// its accesses are whole rows: `slabs` times, `write(slab, sums)` puts the
  /// next rows / slabs rows, `stride` elements apart, into `sums`.
  void
  finish(int64_t slabs, int64_t stride,
         llvm::function_ref<void(mlir::Value slab, mlir::Value sums)> write);

private:
  void locate();
  void storeSlab(mlir::Value sums, int64_t slabRows, mlir::Value firstSlabRow,
                 int64_t stride);

  mlir::Value sharedMemory;
};

/// The launch that adds the sums of `chunks` parts of k in order, and computes
/// the kernel's outputs.
void emitChunkSums(const ProductKernel &source, llvm::StringRef name,
                   mlir::ModuleOp module, int64_t chunks);

/// Whether vectors of `lanes` elements along the last of the dimensions of
/// these sizes never cross a row, if they start at multiples of `lanes`.
bool holdsVectors(llvm::ArrayRef<int64_t> sizes, int64_t lanes);

/// Sums of products of f16, bf16 or, if the target allows it, f32 as tf32 by
/// tensor cores. Does nothing and returns false if the operands are others, or
/// the target has none for them.
bool emitTensorGemm(const ProductKernel &source, llvm::StringRef name,
                    const TargetInfo &target, mlir::ModuleOp module);

/// Sums by fused multiply-adds in the order of the contract.
void emitFmaGemm(const ProductKernel &source, llvm::StringRef name,
                 mlir::ModuleOp module);

} // namespace tessera::lowering::simt
