// Rules of kernel regions.
#include "dialects/Tessera/IR/Tessera.h"

using namespace mlir;

namespace tessera::ir {

LogicalResult KernelOp::verify() {
  Block &block = getBody().front();
  if (block.getArgumentTypes() != getInputs().getTypes())
    return emitOpError("has region arguments of other types than its inputs");
  auto yield = cast<YieldOp>(block.getTerminator());
  if (yield.getValues().getTypes() != getOutputs().getTypes())
    return emitOpError("yields other types than its results");
  if (getPlaces() && getPlaces()->size() != getOutputs().size())
    return emitOpError("needs a place for each output");
  return success();
}

/// The terminator of an empty region.
void YieldOp::build(OpBuilder &, OperationState &) {}

} // namespace tessera::ir
