// Internal to the Gemm emitter: a function builder and what its parts share.
#pragma once
#include "lowering/CPU/GemmPlan.h"
#include "lowering/CodeGen/Formula.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera::lowering::cpu {

using Values = llvm::SmallVector<mlir::Value>;

/// Builds the body of one function. Constants are made once, at its top; sums
/// and products with constants that change nothing make no op.
class FunctionBuilder {
public:
  FunctionBuilder(mlir::ModuleOp module, mlir::Location loc,
                  llvm::StringRef name, mlir::TypeRange arguments,
                  bool isPrivate);

  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::func::FuncOp function;

  mlir::Value arg(unsigned i) { return function.getArgument(i); }
  mlir::ValueRange args(unsigned from, unsigned count) {
    return mlir::ValueRange(function.getArguments()).slice(from, count);
  }

  mlir::Value index(int64_t value);
  mlir::Value zero(mlir::VectorType type) { return splat(type, 0.0); }
  mlir::Value splat(mlir::VectorType type, double value);
  /// The mask of the first `count` lanes.
  mlir::Value mask(int64_t count, int64_t lanes);
  /// Stack memory that lives as long as the call.
  mlir::Value scratch(int64_t elements, mlir::Type element);

  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value add(mlir::Value x, int64_t y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, int64_t y);
  mlir::Value div(mlir::Value x, int64_t y);
  mlir::Value rem(mlir::Value x, int64_t y);
  mlir::Value min(mlir::Value x, mlir::Value y);
  mlir::Value max(mlir::Value x, mlir::Value y);
  mlir::Value equal(mlir::Value x, int64_t y);

  /// A loop over [begin, end); one of a single iteration known here makes no
  /// loop.
  void loop(mlir::Value begin, mlir::Value end, int64_t step,
            llvm::function_ref<void(mlir::Value)> body);
  Values loop(mlir::Value begin, mlir::Value end, int64_t step,
              mlir::ValueRange init,
              llvm::function_ref<Values(mlir::Value, mlir::ValueRange)> body);
  void when(mlir::Value condition, llvm::function_ref<void()> then);
  Values choose(mlir::Value condition, llvm::function_ref<Values()> then,
                llvm::function_ref<Values()> otherwise);

  mlir::Value load(mlir::VectorType type, mlir::Value flat, mlir::Value at);
  void store(mlir::Value vector, mlir::Value flat, mlir::Value at);
  mlir::Value broadcast(mlir::VectorType type, mlir::Value flat,
                        mlir::Value at);
  mlir::Value shuffle(mlir::Value x, mlir::Value y,
                      llvm::ArrayRef<int64_t> lanes);
  /// `locality` is 3 for the first-level cache, 2 for the second.
  void prefetch(mlir::Value flat, mlir::Value at, bool isWrite, int locality);
  /// The columns of a block of as many rows as `type` has lanes, each a vector
  /// of `type`. `row(r, n)` yields the n elements of row r; n is
  /// squareColumns(type).
  Values transposed(mlir::VectorType type,
                    llvm::function_ref<mlir::Value(int64_t, int64_t)> row);
  /// How many columns it is cheapest to transpose at once: as many elements as
  /// 128 bits have.
  static int64_t squareColumns(mlir::VectorType type);
  /// x * y + z as the contract has it: fused on float targets that can.
  mlir::Value multiplyAdd(mlir::Value x, mlir::Value y, mlir::Value z,
                          bool fma);
  mlir::Value addVectors(mlir::Value x, mlir::Value y);

  void call(mlir::func::FuncOp callee, mlir::ValueRange operands);
  void finish();

private:
  mlir::Value concatenated(Values parts);
  /// In each `quad` of lanes: units of x and of y in turn, starting at lane
  /// `from` of both.
  mlir::Value interleaved(mlir::Value x, mlir::Value y, int64_t from,
                          int64_t unit, int64_t quad);
  mlir::Value constant(mlir::TypedAttr value);
  llvm::DenseMap<mlir::Attribute, mlir::Value> constants;
};

/// The constant behind an index value, if it is one.
std::optional<int64_t> constantOf(mlir::Value value);

/// Panels of one width. The rows of a panel have `stride` elements, of which
/// the first `width` are columns.
struct PanelGroup {
  int64_t count = 0, width = 1, stride = 1;
};

/// How a packed operand, k by the columns of B or the rows of A, is cut into
/// panels: first those of one width, then of another. In each step of k, the
/// panels follow each other; a panel has its rows one after another.
struct PanelLayout {
  PanelGroup first, second;
  int64_t panels() const { return first.count + second.count; }
  int64_t columns() const {
    return first.count * first.width + second.count * second.width;
  }
  int64_t packedColumns() const {
    return first.count * first.stride + second.count * second.stride;
  }
};

/// How the packing of an operand is cut into tiles: rows of the packed matrix
/// by panels.
struct PackTiling {
  PackTiling(const PanelLayout &layout, int64_t rows, bool transposed,
             int64_t batches);
  int64_t rowTiles, panelTiles, batches;
  int64_t tileRows, tilePanels; ///< Of a tile, at most.
  int64_t tiles() const { return batches * rowTiles * panelTiles; }
};

/// State of one emission.
struct GemmEmission {
  mlir::ModuleOp module;
  mlir::Location loc;
  const GemmKernel &kernel;
  const GemmTarget &target;
  const GemmPlan &plan;

  mlir::Type element() const { return kernel.shape.element; }
  mlir::VectorType vectorType() const { return vectorType(plan.lanes); }
  mlir::VectorType vectorType(int64_t lanes) const {
    return mlir::VectorType::get({lanes}, element());
  }
  int64_t elementBytes() const { return element().getIntOrFloatBitWidth() / 8; }
  mlir::MemRefType flatType(int64_t elements) const {
    return mlir::MemRefType::get({elements}, element());
  }

  /// Register blocks read B where it is, stored as [n, k].
  bool readsTransposedB() const {
    return kernel.shape.transB && plan.packB == Packing::None;
  }

  /// Columns of a register block.
  int64_t blockColumns() const { return plan.vectors * plan.lanes; }
  PanelLayout panelsA() const;
  PanelLayout panelsB() const;
  /// The index of a panel's part for the step of k that begins at `k`.
  mlir::Value panelAt(FunctionBuilder &f, const PanelLayout &layout,
                      mlir::Value batch, mlir::Value k,
                      mlir::Value panel) const;

  /// x times the length of the step of k that begins at `k`.
  mlir::Value timesStep(FunctionBuilder &f, mlir::Value x, mlir::Value k) const;

  // Totals of the chunks of k before the one at hand: in the result if its rows
  // are whole vectors, else in the workspace.
  bool stepsOverK() const { return plan.kBlock < kernel.shape.k; }
  bool totalsInResult() const;
  int64_t totalColumns() const;
  mlir::MemRefType totalsType() const;
  mlir::Value totals(FunctionBuilder &f) const;
  mlir::Value totalsAt(FunctionBuilder &f, mlir::Value batch, mlir::Value row,
                       mlir::Value column) const;

  PackTiling tilingA() const;
  PackTiling tilingB() const;

  // The workspace: packed A, packed B, totals or a stream's sums, and of pairs
  // the exponents that packing found.
  int64_t packedABytes() const;
  int64_t packedBBytes() const;
  int64_t totalsBytes() const;
  int64_t streamColumns() const;
  int64_t streamBytes() const;
  int64_t exponentBytes() const;
  int64_t workspaceBytes() const {
    return packedABytes() + packedBBytes() + totalsBytes() + streamBytes() +
           exponentBytes();
  }
  mlir::Value streamSums(FunctionBuilder &f) const {
    return workspace(f, packedABytes(), streamBytes());
  }
  mlir::Value packedA(FunctionBuilder &f) const {
    return workspace(f, 0, packedABytes());
  }
  mlir::Value packedB(FunctionBuilder &f) const {
    return workspace(f, packedABytes(), packedBBytes());
  }

  llvm::SmallVector<mlir::Type> launchArguments() const;
  /// Marks a finished launch: tile count, and each buffer distinct from the
  /// others.
  void finishLaunch(FunctionBuilder &f,
                    const runtime::SizeFormula &tiles) const;
  /// Hands `valid` lanes of a vector to the epilogue: by mask, or in pieces of
  /// a power of two of lanes.
  void store(FunctionBuilder &f, mlir::ValueRange buffers, mlir::Value batch,
             mlir::Value row, mlir::Value column, mlir::Value x,
             int64_t valid) const;
  /// A buffer as a one-dimensional memref.
  mlir::Value flatBuffer(FunctionBuilder &f, mlir::Value buffer) const;

private:
  mlir::Value workspace(FunctionBuilder &f, int64_t from, int64_t bytes) const;
  int64_t packedBytes(const PanelLayout &layout, bool shared) const;
};

/// A register block: `rows` rows by `vectors` registers, the last of which
/// holds `tail` lanes.
struct RegisterBlock {
  int64_t rows, vectors, tail;
};

/// Strides of the operands as the register blocks read them.
struct ReadStrides {
  int64_t aRow, aK, bK;
};

void emitPackLaunch(const GemmEmission &e);
void emitComputeLaunch(const GemmEmission &e);
/// The launches of a product with few rows whose B streams from memory: one for
/// the chunks, one that adds them.
void emitStreamLaunches(const GemmEmission &e);

/// Packs the panels [begin, end) of B for the chunk of k that starts at `k`
/// into `buffer`. Of pairs, returns the least exponent.
mlir::Value emitTilePacking(const GemmEmission &e, FunctionBuilder &f,
                            mlir::Value batch, mlir::Value k, mlir::Value begin,
                            mlir::Value end, mlir::Value buffer);

/// Arguments of a register block's function: flat A and flat B, the index of
/// each one's first element, batch, row and column; the kernel's buffers; and
/// if k goes in steps, the totals and the first k; and of pairs, whether their
/// instruction gives the contract's bits.
mlir::func::FuncOp emitRegisterBlock(const GemmEmission &e, RegisterBlock block,
                                     mlir::MemRefType a, mlir::MemRefType b,
                                     ReadStrides strides);

} // namespace tessera::lowering::cpu
