// The stages of a program, and the contract that each module keeps.
#ifndef TESSERA_LOWERING_STAGE_H
#define TESSERA_LOWERING_STAGE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace tessera::lowering {

/// In order. The first four are stages of a whole program; the others of one
/// kernel.
enum class Stage { trace, tensor, kernels, plan, loops, llvm, code };

/// "trace", "tensor" and so on, and back.
llvm::StringRef nameOf(Stage stage);
std::optional<Stage> stageNamed(llvm::StringRef name);

/// The function that a program's module consists of, or null.
mlir::func::FuncOp mainFunction(mlir::ModuleOp module);

/// Notes in the module, as `tessera.stage`, that it is in `stage`.
void markStage(mlir::ModuleOp module, Stage stage);

/// The stage of a program's module: what its `tessera.stage` says, else what it
/// holds. A program without kernels and without a mark is a trace, which the
/// tensor stage is a part of. Emits an error, and fails, on a module that
/// keeps no stage's contract, or not that of its mark. Symbolic dimensions may
/// be bound to stand-ins or not.
llvm::FailureOr<Stage> stageOf(mlir::ModuleOp module);

/// Emits an error, and fails, unless the module keeps the contract of one of
/// the first four stages:
/// - trace: a function `main` of one block that holds ops of the dialect alone;
/// - tensor: no composites among them;
/// - kernels: only kernels, which hold primitives, and reshapes;
/// - plan: every output of a kernel has a place, and every result is written.
llvm::LogicalResult verifyStage(mlir::ModuleOp module, Stage stage);

} // namespace tessera::lowering

#endif
