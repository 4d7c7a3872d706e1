// Rules of kernel regions.
#include "dialects/Tessera/IR/Tessera.h"

using namespace mlir;

namespace tessera::ir {

static LogicalResult verifyInPlace(KernelOp kernel) {
  if (!kernel.getInPlace())
    return success();
  if (kernel.getInPlace()->size() != kernel.getOutputs().size())
    return kernel.emitOpError("needs an entry of in_place for each output");
  llvm::SmallDenseSet<int64_t> taken;
  for (auto [i, output] : llvm::enumerate(kernel.getOutputs())) {
    int64_t input = kernel.overwrittenInput(i);
    if (input == -1)
      continue;
    if (input < 0 || input >= int64_t(kernel.getInputs().size()) ||
        kernel.getInputs()[input].getType() != output.getType())
      return kernel.emitOpError("can overwrite only an input of its output's "
                                "type");
    if (!taken.insert(input).second)
      return kernel.emitOpError("overwrites an input twice");
  }
  return success();
}

LogicalResult KernelOp::verify() {
  Block &block = getBody().front();
  if (block.getArgumentTypes() != getInputs().getTypes())
    return emitOpError("has region arguments of other types than its inputs");
  auto yield = cast<YieldOp>(block.getTerminator());
  if (yield.getValues().getTypes() != getOutputs().getTypes())
    return emitOpError("yields other types than its results");
  if (getPlaces() && getPlaces()->size() != getOutputs().size())
    return emitOpError("needs a place for each output");
  return verifyInPlace(*this);
}

/// The terminator of an empty region.
void YieldOp::build(OpBuilder &, OperationState &) {}

} // namespace tessera::ir
