// Random programs from a seed.
#ifndef TESSERA_TEST_FUZZ_GENERATE_H
#define TESSERA_TEST_FUZZ_GENERATE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OperationSupport.h"
#include "tools/tessera-reduce/ReduceProgram.h"

namespace tessera::fuzz {

/// The ops of the dialect that a program of the trace stage may hold.
llvm::SmallVector<mlir::RegisteredOperationName>
traceOps(mlir::MLIRContext &context);

/// A program of the trace stage, the function `main` of a module; the same for
/// the same seed on every machine.
mlir::OwningOpRef<mlir::ModuleOp> generate(mlir::MLIRContext &context,
                                           uint64_t seed);

} // namespace tessera::fuzz

#endif
