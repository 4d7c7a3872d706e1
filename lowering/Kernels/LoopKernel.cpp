// Facts about loop kernels.
#include "lowering/Kernels/LoopKernel.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering {

LogicalResult verifyLoop(KernelOp kernel) {
  auto types = kernel.getOutputs().getTypes();
  if (types.empty())
    return kernel.emitOpError("a loop kernel needs an output");
  auto shapeOf = [](Type type) {
    return cast<RankedTensorType>(type).getShape();
  };
  if (!llvm::all_of(types, [&](Type type) {
        return shapeOf(type) == shapeOf(types.front());
      }))
    return kernel.emitOpError("a loop kernel's outputs have one shape");
  return success();
}

bool isFlat(KernelOp kernel) {
  return llvm::all_of(
      kernel.getBody().front().without_terminator(), [](Operation &op) {
        if (isa<ScalarOpInterface>(op) ||
            isa<ConstantOp, ExtentOp, IdentityOp, StopGradientOp>(op))
          return true;
        auto broadcast = dyn_cast<BroadcastOp>(op);
        return broadcast && tensorType(broadcast.getX()).getNumElements() == 1;
      });
}

SmallVector<LaneIndex> flatIndex(LaneMath &lane, ArrayRef<int64_t> shape,
                                 LaneIndex position) {
  SmallVector<LaneIndex> index(shape.size(), lane.constant(0));
  for (size_t dim = shape.size(); dim-- > 0;)
    if (shape[dim] != 1) {
      index[dim] = position;
      break;
    }
  return index;
}

} // namespace tessera::lowering
