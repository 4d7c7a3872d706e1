// Chooses the emitter by the kernel's kind; facts that emitters ask for.
#include "lowering/CPU/Emit.h"
#include "lowering/Kernels/Launch.h"
#include "lowering/Kernels/Symbolic.h"

using namespace mlir;
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

static int64_t bytesOf(TypeRange types) {
  int64_t bytes = 0;
  for (Type type : types)
    bytes += likely(byteSize(cast<RankedTensorType>(type)));
  return bytes;
}

int64_t inputBytes(KernelOp kernel) {
  return bytesOf(kernel.getInputs().getTypes());
}

bool isStreamed(KernelOp kernel, const TargetInfo &target) {
  return bytesOf(kernel.getOutputs().getTypes()) > target.l3;
}

} // namespace tessera::lowering::cpu
