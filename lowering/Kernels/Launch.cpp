// Builds launch functions.
#include "lowering/Kernels/Launch.h"
#include "lowering/Kernels/FusedBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering {

MemRefType flatMemRef(RankedTensorType type) {
  return MemRefType::get({type.getNumElements()},
                         storageType(type.getElementType()));
}

Launch::Launch(ModuleOp module, KernelOp kernel, StringRef name, int64_t tiles,
               int64_t workspace)
    : builder(module.getContext()), location(kernel.getLoc()),
      numInputs(kernel.getInputs().size()),
      numOutputs(kernel.getOutputs().size()) {
  SmallVector<Type> arguments;
  for (Type type : llvm::concat<const Type>(
           llvm::to_vector(kernel.getInputs().getTypes()),
           llvm::to_vector(kernel.getOutputs().getTypes())))
    arguments.push_back(flatMemRef(cast<RankedTensorType>(type)));
  if (workspace > 0)
    arguments.push_back(MemRefType::get({workspace}, builder.getI8Type()));
  size_t buffers = arguments.size();
  arguments.append(2, builder.getIndexType());
  builder.setInsertionPointToEnd(module.getBody());
  function = func::FuncOp::create(builder, location, name,
                                  builder.getFunctionType(arguments, {}));
  function->setAttr("tessera.launch", builder.getI64IntegerAttr(tiles));
  if (workspace > 0)
    function->setAttr("tessera.workspace",
                      builder.getI64IntegerAttr(workspace));
  for (size_t i = 0; i < buffers; ++i)
    function.setArgAttr(i, "llvm.noalias", builder.getUnitAttr());
  builder.setInsertionPointToStart(function.addEntryBlock());
}

Value Launch::number(int64_t value) {
  return arith::ConstantIndexOp::create(builder, location, value);
}

Value Launch::forEachTile() {
  auto arguments = function.getArguments();
  return openLoop(arguments[arguments.size() - 2], arguments.back(), 1);
}

Value Launch::openLoop(Value low, Value high, int64_t step) {
  auto loop = scf::ForOp::create(builder, location, low, high, number(step));
  open.push_back(loop);
  builder.setInsertionPointToStart(loop.getBody());
  return loop.getInductionVar();
}

void Launch::closeLoop() {
  builder.setInsertionPointAfter(open.pop_back_val());
}

void Launch::finish() {
  while (!open.empty())
    closeLoop();
  func::ReturnOp::create(builder, location);
}

} // namespace tessera::lowering
