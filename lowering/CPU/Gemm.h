// The Gemm emitter: a batched product with fused producers and epilogue.
#pragma once
#include "lowering/CodeGen/Target.h"
#include "lowering/Kernels/GemmContract.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include <functional>
#include <string>

namespace tessera::lowering::cpu {

/// Whether the lanes of an accumulator are neighbouring rows of the result: if
/// it has one column, or as many as a symbol says.
bool storesAlongRows(const GemmShape &shape);

/// Produces `vector<lanes x element>` of an operand: the elements [batch, row,
/// col .. col + lanes) of its storage order (so `col` is k for a plain A and m
/// for a transposed one). `buffers` are the kernel's buffers in the function
/// that is being built; values of any other function must not be used. `mask`,
/// if not null, says which lanes exist; the others must yield 0 and must not be
/// read from memory.
using LoadFn = std::function<mlir::Value(
    mlir::OpBuilder &, mlir::Location, mlir::ValueRange buffers,
    mlir::Value batch, mlir::Value row, mlir::Value col, int64_t lanes,
    mlir::Value mask)>;

/// Consumes `acc`, a vector of the elements [batch, row, col .. col + lanes) of
/// the result: applies the epilogue and stores. If storesAlongRows(), lanes run
/// along the rows instead. `mask` is null
/// if all lanes exist. Vectors are of any power of two of lanes up to the
/// target's width. `batch`, `row`, `col` are of index type.
using StoreFn = std::function<void(mlir::OpBuilder &, mlir::Location,
                                   mlir::ValueRange buffers, mlir::Value batch,
                                   mlir::Value row, mlir::Value col,
                                   mlir::Value acc, mlir::Value mask)>;

/// An operand is a dense buffer of the kernel, of any rank, or is computed by
/// `load`, once for each element.
struct GemmOperand {
  int64_t buffer = -1;
  LoadFn load;
};

/// What is to be emitted.
struct GemmKernel {
  /// Symbol of the last launch; those before it add an end to it.
  std::string name;
  GemmShape shape;
  /// Inputs, then outputs: the leading arguments of every launch. An empty one
  /// must be of rank 1, since MLIR passes no other as a bare pointer.
  llvm::SmallVector<mlir::MemRefType> buffers;
  GemmOperand a, b;
  StoreFn store;
  /// An output that has the result's shape, row-major, or -1: it is prefetched,
  /// and if it is of the result's type it holds sums between chunks of k. It
  /// must not share memory with an input.
  int64_t result = -1;
  /// All elements of A and B are numbers of bf16, as f32.
  bool isBF16 = false;
  /// The epilogue is more than about four ops: it is then built once a
  /// register block, in a loop.
  bool heavyStore = false;
};

/// How the target multiplies pairs of bf16: an instruction adds two products to
/// an f32, or what it computes is spelled out, for tests on other targets.
enum class PairDot { None, Instruction, SpelledOut };

/// Facts of the target that the schedule depends on. The bits of the result
/// depend on `fma` only.
struct GemmTarget {
  int64_t vectorBits = 128;
  int64_t registers = 16;
  bool fma = false;
  bool masks = false; ///< Masked vector loads of 32 and 64-bit elements are
                      ///< instructions.
  PairDot pairDot = PairDot::None;
  int64_t l1 = 32 << 10, l2 = 512 << 10, l3 = 8 << 20;
};
/// What the emitter is told of a target.
GemmTarget factsOf(const TargetInfo &target);

/// Appends the launches to `module`, in the order in which they run, and
/// returns the bytes of workspace they share. If that is not 0, each launch has
/// a memref<BYTES x i8> after the buffers; it must be aligned to 64 bytes.
int64_t emitGemm(mlir::ModuleOp module, mlir::Location loc,
                 const GemmKernel &kernel, const GemmTarget &target);

/// A StoreFn without an epilogue: writes to `buffer`, whose shape is that of
/// the result with or without unit dimensions.
StoreFn storeTo(int64_t buffer, const GemmShape &shape);

} // namespace tessera::lowering::cpu
