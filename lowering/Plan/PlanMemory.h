// The plan: where every value between kernels lies.
#ifndef TESSERA_LOWERING_PLAN_PLANMEMORY_H
#define TESSERA_LOWERING_PLAN_PLANMEMORY_H

#include "lowering/CodeGen/PlanEntry.h"
#include "lowering/Kernels/Launch.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera::lowering {

/// Gives every kernel output of a kernels-stage function a place: its result's
/// buffer, or an offset into one arena that it shares with values that live at
/// other times. The arena's size becomes the function's `tessera.arena`.
void planMemory(mlir::func::FuncOp function);

/// Emits an error on a function that does not keep the plan stage's contract:
/// only kernels with places, and reshapes.
llvm::LogicalResult verifyPlan(mlir::func::FuncOp function);

/// The calls of a planned function, given each kernel's launches in the order
/// of the kernels. Workspaces, which no two kernels use at once, share the
/// bytes after the arena.
Plan makePlan(mlir::func::FuncOp function,
              llvm::ArrayRef<llvm::ArrayRef<LaunchInfo>> kernels);

} // namespace tessera::lowering

#endif
