// One program of a symbolic dimension from the recordings of two sizes.
#ifndef TESSERA_TRANSFORMS_GENERALISE_H
#define TESSERA_TRANSFORMS_GENERALISE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tessera::ir {

/// The program that `first` is for the size n1 of symbol 0, and `second` for
/// n2, as files have it. Sizes that differ are the symbol, times and plus a
/// number; constants that are a multiple of the size become `tessera.extent`.
/// Emits an error at the op that is another one, or whose sizes or numbers
/// follow from the symbol in no such way. `name` is what the symbol is called.
llvm::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
generalise(mlir::ModuleOp first, mlir::ModuleOp second, int64_t n1, int64_t n2,
           llvm::StringRef name);

} // namespace tessera::ir

#endif
