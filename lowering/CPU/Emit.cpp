// Chooses the emitter by the kernel's kind.
#include "lowering/CPU/Emit.h"

using namespace tessera::ir;

namespace tessera::lowering::cpu {

llvm::LogicalResult emitKernel(KernelOp kernel, llvm::StringRef name,
                               const TargetInfo &target,
                               mlir::ModuleOp module) {
  switch (kernel.getKind()) {
  case KernelKind::loop:
    return emitLoop(kernel, name, target, module);
  case KernelKind::row_reduce:
    return emitRowReduce(kernel, name, target, module);
  case KernelKind::col_reduce:
    return emitColReduce(kernel, name, target, module);
  case KernelKind::gemm:
    return emitGemm(kernel, name, target, module);
  }
  llvm_unreachable("unknown kernel kind");
}

} // namespace tessera::lowering::cpu
