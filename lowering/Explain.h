// What a compiled program consists of, and what it costs, as people read it.
#ifndef TESSERA_LOWERING_EXPLAIN_H
#define TESSERA_LOWERING_EXPLAIN_H

#include "dialects/Tessera/IR/Tessera.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace tessera::lowering {

/// Arithmetic and memory traffic, counted from shapes.
struct Cost {
  /// One for each element that an elementwise op on floats computes, whatever
  /// the function, and for each element that a reduction of floats takes; two
  /// for each multiplication of a product, with its addition.
  int64_t flops = 0;
  /// What kernels read and write if each reads its inputs and writes its
  /// outputs once and nothing stays in a cache between them.
  int64_t bytes = 0;
};

Cost costOf(ir::KernelOp kernel);
/// The sum over the kernels of a function in the kernels or plan stage.
Cost costOf(mlir::func::FuncOp function);

/// How long a kernel took, and what fraction that is of what the machine can
/// do: of its memory's or its arithmetic's rate, whichever is nearer.
struct KernelTime {
  double seconds = 0;
  double fraction = 0;
  bool boundByMemory = false;
};

/// A page on a plan-stage function: for each kernel the user's lines, the ops
/// in it, what it reads and writes and where that lies, its cost, and why it
/// was formed so.
/// With `times`, one for each kernel, also how long it took.
std::string explain(mlir::func::FuncOp function,
                    llvm::ArrayRef<KernelTime> times = {});

/// The same as data: the sums, and an array "kernels". Sizes are numbers, or
/// texts where they depend on symbols.
llvm::json::Object explainAsJson(mlir::func::FuncOp function,
                                 llvm::ArrayRef<KernelTime> times = {});

} // namespace tessera::lowering

#endif
