// Finds runs.
#include "lowering/Kernels/Runs.h"
#include <numeric>

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering {

SmallVector<LaneIndex> indexInRun(LaneMath &lane, Value value,
                                  SmallVector<LaneIndex> index,
                                  LaneIndex offset) {
  auto shape = tensorType(value).getShape();
  for (int64_t dim = shape.size(); dim-- > 0;)
    if (shape[dim] != 1) {
      index[dim] = lane.add(index[dim], offset);
      break;
    }
  return index;
}

int64_t findRunLength(KernelOp kernel, ArrayRef<int64_t> space,
                      int64_t firstDim) {
  auto product = [](ArrayRef<int64_t> sizes) {
    return ShapedType::getNumElements(sizes);
  };
  int64_t length = product(space.drop_front(firstDim)), all = product(space);
  // An operand that is an input, or has an element for each of the space's.
  auto isPlain = [&](BroadcastOp op) {
    return isa<BlockArgument>(op.getX()) ||
           product(tensorType(op.getX()).getShape()) == all;
  };
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    auto shape = tensorType(op.getResult(0)).getShape();
    if (product(shape) != all || isa<ScalarOpInterface>(op) ||
        isa<ReshapeOp, IdentityOp, StopGradientOp, ConstantOp, ExtentOp,
            ReduceOp>(op))
      continue;
    // The trailing dimensions that a broadcast repeats, or keeps as they are,
    // are one to it; to any other op only the innermost one is.
    auto broadcast = dyn_cast<BroadcastOp>(op);
    std::optional<bool> keeps;
    int64_t run = 1;
    for (int64_t dim = shape.size(); dim-- > 0;) {
      if (shape[dim] == 1)
        continue;
      bool kept = false;
      if (broadcast)
        for (auto [i, to] : llvm::enumerate(broadcast.getDims()))
          kept |= to == dim && tensorType(broadcast.getX()).getDimSize(i) != 1;
      bool goesOn = broadcast && kept == keeps && (!kept || isPlain(broadcast));
      if (keeps && !goesOn)
        break;
      keeps = kept;
      run *= shape[dim];
    }
    length = std::gcd(length, run);
  }
  return length;
}

} // namespace tessera::lowering
