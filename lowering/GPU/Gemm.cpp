// The Gemm emitter: chooses how a product is computed.
#include "lowering/GPU/Gemm.h"
#include "lowering/CodeGen/Formula.h"
#include "lowering/GPU/Emit.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering::simt {

LogicalResult emitGemm(KernelOp kernel, StringRef name,
                       const TargetInfo &target, ModuleOp module) {
  FailureOr<ProductKernel> source = ProductKernel::of(kernel);
  if (failed(source))
    return failure();
  const GemmShape &s = source->shape;
  if (s.batch == 0 || s.m == 0 || s.n == 0) {
    BlockLaunch(module, kernel, name, formulaOf(0), kWarp).finish();
    return success();
  }
  if (!emitTensorGemm(*source, name, target, module))
    emitFmaGemm(*source, name, module);
  return success();
}

} // namespace tessera::lowering::simt
