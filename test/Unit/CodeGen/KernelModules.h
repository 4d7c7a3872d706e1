// Kernel modules written by hand, as emitters would make them, for the tests of
// the code generator.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>

namespace tessera::test {

/// out[i] = a[i] + b[i] over `n` f32 in `tiles` tiles, `lanes` at a time with a
/// scalar tail. One launch, "add".
mlir::OwningOpRef<mlir::ModuleOp>
addKernel(mlir::MLIRContext &context, int64_t n, int64_t tiles, int lanes);

/// A sum of n f32 in two launches with a workspace of one partial a tile:
/// "partials", then "combine".
mlir::OwningOpRef<mlir::ModuleOp> sumKernel(mlir::MLIRContext &context,
                                            int64_t n, int64_t tiles);

/// out[i] = a[i] < b[i], stored as bytes. One launch, "less".
mlir::OwningOpRef<mlir::ModuleOp> lessKernel(mlir::MLIRContext &context,
                                             int64_t n);

/// Parses a module; the test fails if it does not parse.
mlir::OwningOpRef<mlir::ModuleOp> parseKernel(mlir::MLIRContext &context,
                                              const std::string &text);

/// Makes a context that has the dialects of kernel modules.
std::unique_ptr<mlir::MLIRContext> kernelContext();

} // namespace tessera::test
