// Builds launch functions.
#include "lowering/Kernels/Launch.h"
#include "lowering/Kernels/FusedBody.h"
#include "lowering/Kernels/Symbolic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering {

int64_t byteSize(RankedTensorType type) {
  return type.getNumElements() *
         (storageType(type.getElementType()).getIntOrFloatBitWidth() / 8);
}

MemRefType flatMemRef(RankedTensorType type) {
  return MemRefType::get({type.getNumElements()},
                         storageType(type.getElementType()));
}

LaunchArguments launchArguments(KernelOp kernel,
                                const runtime::SizeFormula &workspace) {
  LaunchArguments arguments;
  for (Value input : kernel.getInputs())
    arguments.types.push_back(flatMemRef(tensorType(input)));
  for (auto [i, output] : llvm::enumerate(kernel.getOutputs())) {
    int64_t overwritten = kernel.overwrittenInput(i);
    arguments.outputs.push_back(
        overwritten < 0 ? int64_t(arguments.types.size()) : overwritten);
    if (overwritten < 0)
      arguments.types.push_back(flatMemRef(tensorType(output)));
  }
  arguments.hasWorkspace = workspace.constant > 0 || !workspace.isConstant();
  if (arguments.hasWorkspace)
    arguments.types.push_back(MemRefType::get(
        {workspace.isConstant() ? workspace.constant : kUnknownElements},
        IntegerType::get(kernel.getContext(), 8)));
  return arguments;
}

Launch::Launch(ModuleOp module, KernelOp kernel, StringRef name,
               const runtime::SizeFormula &tiles,
               const runtime::SizeFormula &workspace)
    : builder(module.getContext()), location(kernel.getLoc()),
      numInputs(kernel.getInputs().size()) {
  LaunchArguments arguments = launchArguments(kernel, workspace);
  size_t buffers = arguments.types.size();
  arguments.types.append(2, builder.getIndexType());
  builder.setInsertionPointToEnd(module.getBody());
  function = func::FuncOp::create(builder, location, name,
                                  builder.getFunctionType(arguments.types, {}));
  MLIRContext *context = builder.getContext();
  function->setAttr("tessera.launch", attributeOf(context, tiles));
  if (arguments.hasWorkspace)
    function->setAttr("tessera.workspace", attributeOf(context, workspace));
  for (size_t i = 0; i < buffers; ++i)
    function.setArgAttr(i, "llvm.noalias", builder.getUnitAttr());
  builder.setInsertionPointToStart(function.addEntryBlock());
  for (int64_t argument : arguments.outputs)
    outputBuffers.push_back(function.getArgument(argument));
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
