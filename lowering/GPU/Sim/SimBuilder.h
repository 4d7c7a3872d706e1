// What the parts of the lowering for the emulator share: calls into it, the
// tables of places and of shared arrays.
#pragma once
#include "lowering/GPU/Sim/LowerToSim.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <vector>

namespace tessera::lowering {

/// Names used in this part.
inline constexpr llvm::StringLiteral kSimPrefix = "tessera_sim_";

/// An array in shared memory, laid out. All arrays of a module lie apart; a
/// kernel has those that it uses.
struct SharedArray {
  mlir::StringRef name;
  int64_t offset, bytes, alignment;
};

/// A builder whose calls go into the emulator.
class SimBuilder : public mlir::OpBuilder {
public:
  SimBuilder(mlir::ModuleOp module, const SimOptions &options);

  /// Places every static array of shared memory and drops the globals.
  llvm::LogicalResult layOutShared();

  /// The index of the op's place in the table of sites, as a constant.
  mlir::Value site(mlir::Operation *op);

  mlir::Value constant(mlir::Location loc, int64_t value, unsigned bits = 32);
  /// The value as i32, whatever integer type it has or float of 32 bits.
  mlir::Value asI32(mlir::Location loc, mlir::Value value);
  /// A pointer in address space 0.
  mlir::Value asGeneric(mlir::Location loc, mlir::Value pointer);
  /// The thread that the function around the insertion point runs as.
  mlir::Value lane();
  /// A field of the thread, by its offset in tessera_sim_lane.
  mlir::Value laneField(mlir::Location loc, size_t offset, mlir::Type type);
  /// `words` words of 32 bits on the stack, allocated once a call.
  mlir::Value stackWords(mlir::Location loc, int64_t words);
  mlir::Value word(mlir::Location loc, mlir::Value words, int64_t index);

  /// Calls tessera_sim_NAME(lane, args..., site of `op`); the result, or null
  /// if `result` is null.
  mlir::Value callAt(mlir::Operation *op, llvm::StringRef name,
                     mlir::Type result, mlir::ValueRange args);
  /// Calls tessera_sim_NAME(args...).
  mlir::Value call(mlir::Location loc, llvm::StringRef name, mlir::Type result,
                   mlir::ValueRange args);

  /// Replaces an address of a shared array by its place in the block's memory.
  llvm::LogicalResult lowerAddress(mlir::LLVM::AddressOfOp op);

  /// The offset of a string in the table of strings.
  uint32_t string(llvm::StringRef text);

  mlir::ModuleOp module;
  const SimOptions &options;
  mlir::DataLayout layout;
  mlir::Type ptr, i1, i32, i64, f32, noResult;
  std::vector<SharedArray> arrays;
  /// Where dynamic shared memory starts, and its alignment; 1 if there is none.
  int64_t dynamicOffset = 0, dynamicAlignment = 1;
  /// The arrays that each function uses, by index.
  llvm::DenseMap<mlir::Operation *, llvm::SmallSetVector<unsigned, 4>> uses;
  /// Four numbers for each site: file, line, column, op.
  std::vector<int32_t> sites;
  std::string strings;
  /// The smallest access there is to shared memory.
  int64_t granule = 4;

private:
  llvm::StringMap<uint32_t> stringOffsets;
  llvm::StringMap<unsigned> arrayIndices;
  llvm::StringSet<> dynamicNames;
};

/// Each lowers an op of its kind and erases it. `isKnown` is false, and nothing
/// has changed, if the op is of another kind.
struct SimLowering {
  bool isKnown = true;
  llvm::LogicalResult result = llvm::success();

  static SimLowering unknown() { return {false, llvm::success()}; }
};
SimLowering lowerWarpOp(SimBuilder &b, mlir::Operation *op);
SimLowering lowerMatrixOp(SimBuilder &b, mlir::Operation *op);
SimLowering lowerMemoryOp(SimBuilder &b, mlir::Operation *op);

/// Lets other threads run before each look at memory that they may be about to
/// change. It comes before instrument(): what is reported must be what is seen.
void yieldBeforeLooks(SimBuilder &b, mlir::LLVM::LLVMFuncOp func);

/// Reports the accesses, branches and operations of a function.
void instrument(SimBuilder &b, mlir::LLVM::LLVMFuncOp func);

/// Gives every function the thread as its first parameter, and calls of them
/// the argument. The functions that were kernels keep `nvvm.kernel` and the
/// bounds of their blocks.
llvm::LogicalResult addLaneParameters(SimBuilder &b);

/// Makes the exported tessera_sim_kernel of each kernel, and its tables.
void addKernelTables(SimBuilder &b);

} // namespace tessera::lowering
