// The Loop emitter: every output element is a function of its index; views are
// folded into the indexing.
//
// A thread computes the elements of one access of 128 bits, neighbours in a
// row.
#include "lowering/GPU/BlockLaunch.h"
#include "lowering/GPU/Emit.h"
#include "lowering/Kernels/FusedBody.h"
#include "lowering/Kernels/Launch.h"
#include "lowering/Kernels/LoopKernel.h"
#include "lowering/Kernels/Symbolic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering::simt {

namespace {

constexpr int64_t kThreads = 256;
constexpr int64_t kAccessBytes = 16;

class LoopEmitter {
public:
  LoopEmitter(KernelOp kernel, StringRef name, ModuleOp module)
      : kernel(kernel),
        space(cast<RankedTensorType>(kernel.getOutputs()[0].getType())),
        flat(isFlat(kernel)), elements(space.getNumElements()),
        lanes(lanesOfThread()),
        launch(module, kernel, name, ceilOf(elements, kThreads * lanes),
               kThreads),
        body(kernel, launch.inputs()) {
    body.alignBuffers();
  }

  void emit() {
    if (elements > 0)
      emitElements();
    launch.finish();
  }

private:
  /// As many as the widest element in memory leaves room for in an access, and
  /// such that they lie in one row.
  int64_t lanesOfThread() {
    int64_t bytes = 1;
    for (Value value : llvm::concat<Value>(
             llvm::to_vector(kernel.getInputs()),
             llvm::to_vector(ValueRange(kernel.getOutputs())))) {
      Type element = storageType(tensorType(value).getElementType());
      bytes = std::max<int64_t>(bytes, element.getIntOrFloatBitWidth() / 8);
    }
    int64_t row =
        flat || space.getRank() == 0 ? elements : space.getShape().back();
    int64_t most = kAccessBytes / bytes;
    while (most > 1 && !isMultipleOf(row, most))
      most /= 2;
    return std::max<int64_t>(most, 1);
  }

  void emitElements() {
    OpBuilder &b = launch.body();
    Location loc = launch.loc();
    LaneMath lane(b, loc);
    LaneIndex first = lane.mulConstant({launch.block(), 0, 1}, kThreads);
    LaneIndex access = lane.add(first, {launch.thread(), 0, 1});
    LaneIndex position = lane.mulConstant({access.base, 0, 1}, lanes);
    if (!isMultipleOf(elements, kThreads * lanes))
      launch.openIf(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                          position.base,
                                          launch.number(elements)));
    position.step = 1;
    FusedBody::Frame frame(body, b);
    SmallVector<LaneIndex> index = indexOf(position);
    auto yield = cast<YieldOp>(kernel.getBody().front().getTerminator());
    SmallVector<Value> values;
    for (Value value : yield.getValues())
      values.push_back(frame.at(value, index, lanes));
    // All values are loaded before the first is stored: an output may lie in
    // the place of an input.
    for (auto [value, output] : llvm::zip(values, launch.outputs()))
      storeLanes(b, loc, value, output, position.base, /*nonTemporal=*/false,
                 /*mask=*/{}, /*isAligned=*/true);
  }

  SmallVector<LaneIndex> indexOf(LaneIndex position) {
    LaneMath lane(launch.body(), launch.loc());
    return flat ? flatIndex(lane, space.getShape(), position)
                : *lane.delinearize(position, space.getShape(), lanes);
  }

  KernelOp kernel;
  RankedTensorType space;
  bool flat;
  int64_t elements, lanes;
  BlockLaunch launch;
  FusedBody body;
};

} // namespace

LogicalResult emitLoop(KernelOp kernel, StringRef name, ModuleOp module) {
  if (failed(verifyLoop(kernel)))
    return failure();
  LoopEmitter(kernel, name, module).emit();
  return success();
}

} // namespace tessera::lowering::simt
