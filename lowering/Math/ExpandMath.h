// Vector math of our own: rewrites math.* on f32 and f64, and conversions of
// narrow floats, into exact IEEE arithmetic, FMA and integer operations.
#pragma once
#include "lowering/CodeGen/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace tessera::lowering {

/// What the target computes in one instruction. The defaults are those of every
/// x86 CPU since 2013 and of every GPU.
struct MathTarget {
  /// Fused multiply-add. Without it the expansions multiply and add, and the
  /// few places that need the exact product compute it in parts. Bits differ
  /// from those of targets with FMA.
  bool fma = true;
  /// Rounding to an integral value (SSE4.1). Without it floor, ceil, trunc and
  /// roundeven are expanded too.
  bool rounding = true;
  /// f16 to f32 and back (F16C).
  bool f16Conversions = true;
  /// f32 to bf16, denormals included: no x86 CPU.
  bool bf16Rounding = false;
};

/// Rewrites in `root` every supported `math.*` operation on f32 or f64 scalars
/// and 1-D vectors, and `arith.extf` and `arith.truncf` to f16 and bf16 and
/// from f16. A lane's bits depend on the lane's operands only: not on the
/// width, the neighbours or the instruction set (FMA aside). Errors are at most
/// 2 ULP over the whole range; zeros keep their sign, denormals are exact to
/// rounding, any NaN stands for any other. sin and cos add a private function
/// to the enclosing module, for huge arguments. Operations it does not know are
/// left alone; `verifyMath` reports them.
void expandMath(mlir::Operation *root, const MathTarget &target = {});

/// True if `op` is no `math.*` operation, or one that becomes a few
/// instructions and never a call.
bool isMathLegal(mlir::Operation *op, const MathTarget &target = {});

/// Emits an error at each operation under `root` that is not legal after
/// `expandMath`.
llvm::LogicalResult verifyMath(mlir::Operation *root,
                               const MathTarget &target = {});

/// `expandMath`, then `verifyMath`, for this CPU: what LowerOptions::expandMath
/// asks for.
llvm::LogicalResult expandKernelMath(mlir::ModuleOp module,
                                     const TargetInfo &target);

/// The pass `tessera-expand-math`: `expandMath`, then `verifyMath`.
std::unique_ptr<mlir::Pass> createExpandMathPass(const MathTarget &target = {});

} // namespace tessera::lowering
