// Chooses the emitter by the kernel's kind.
#include "lowering/GPU/Emit.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering::simt {

LogicalResult emitKernel(KernelOp kernel, StringRef name,
                         const TargetInfo &target, ModuleOp module) {
  switch (kernel.getKind()) {
  case KernelKind::loop:
    return emitLoop(kernel, name, module);
  case KernelKind::row_reduce:
    return emitRowReduce(kernel, name, module);
  case KernelKind::col_reduce:
    return emitColReduce(kernel, name, module);
  case KernelKind::gemm:
    return emitGemm(kernel, name, target, module);
  default:
    return kernel.emitOpError("is of the kind ")
           << stringifyKernelKind(kernel.getKind())
           << ", which has no emitter for GPUs yet";
  }
}

} // namespace tessera::lowering::simt
