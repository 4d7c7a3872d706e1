// The part of a trace that some values need, its identity, and its copy.
#pragma once

#include "frontend/Trace.h"

namespace tessera::detail {

/// The ops that `outputs` need, back to values whose bytes are known or that
/// are arguments.
struct Slice {
  llvm::SmallVector<mlir::Operation *> inputs; ///< in the order of first use
  llvm::SmallVector<mlir::Operation *> ops;    ///< operands first
  llvm::SmallVector<mlir::Operation *> outputs;
  /// Positions of inputs whose memory outputs may take, increasing.
  llvm::SmallVector<unsigned> donated;
  /// Of an input twice its index, of an op twice its index plus one.
  llvm::DenseMap<mlir::Operation *, uint32_t> position;
};

/// Iterative, so a program may be of any depth. A root that is an input is an
/// input and an output.
Slice makeSlice(Trace &trace, llvm::ArrayRef<mlir::Operation *> roots);

/// Everything that decides what code computes a slice, and nothing else: ops,
/// attributes, types, structure and what is donated, but no locations and no
/// numbers.
using StructureKey = std::vector<uint32_t>;
StructureKey makeKey(Trace &trace, const Slice &slice);

/// The slice as a function `main` in a module of another context: inputs become
/// arguments, outputs results, with their locations. A donated argument has the
/// attribute `tessera.donate`.
mlir::OwningOpRef<mlir::ModuleOp> copySlice(const Slice &slice,
                                            mlir::MLIRContext &context);

} // namespace tessera::detail
