// Which kernels write over their inputs, and which results take the bytes of a
// donated argument.
#ifndef TESSERA_LOWERING_PLAN_INPLACE_H
#define TESSERA_LOWERING_PLAN_INPLACE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera::lowering {

/// An argument whose bytes the caller gives away has this attribute.
constexpr llvm::StringLiteral kDonate = "tessera.donate";
/// A result that lies in the bytes of a donated argument has this attribute,
/// the argument's number.
constexpr llvm::StringLiteral kAlias = "tessera.alias";

/// The kernel output or argument that a value is, seen through reshapes.
mlir::Value storedValue(mlir::Value value);

/// Gives kernels their `in_place`, and results their `tessera.alias`. A
/// loop or a product's epilogue overwrites an input that is read for the last
/// time, at the index that is written. A donated argument of no such kernel
/// still gives its bytes to a result of its size that is first written after
/// the argument's last use.
void decideInPlace(mlir::func::FuncOp function);

} // namespace tessera::lowering

#endif
