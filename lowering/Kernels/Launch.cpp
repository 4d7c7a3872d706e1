// Builds launch functions.
#include "lowering/Kernels/Launch.h"
#include "lowering/Kernels/FusedBody.h"
#include "lowering/Kernels/Symbolic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera::ir;
using tessera::runtime::SizeFormula;

namespace tessera::lowering {

int64_t byteSize(RankedTensorType type) {
  return type.getNumElements() *
         (storageType(type.getElementType()).getIntOrFloatBitWidth() / 8);
}

MemRefType flatMemRef(RankedTensorType type) {
  return MemRefType::get({type.getNumElements()},
                         storageType(type.getElementType()));
}

void LaunchArguments::add(RankedTensorType type) {
  types.push_back(flatMemRef(type));
  int64_t element = storageType(type.getElementType()).getIntOrFloatBitWidth();
  bytes.push_back(ceilOf(type.getNumElements(), 1, element / 8));
}

LaunchArguments launchArguments(KernelOp kernel, const SizeFormula &workspace) {
  LaunchArguments arguments;
  for (Value input : kernel.getInputs())
    arguments.add(tensorType(input));
  for (auto [i, output] : llvm::enumerate(kernel.getOutputs())) {
    int64_t overwritten = kernel.overwrittenInput(i);
    arguments.outputs.push_back(
        overwritten < 0 ? int64_t(arguments.types.size()) : overwritten);
    if (overwritten < 0)
      arguments.add(tensorType(output));
  }
  arguments.hasWorkspace = workspace.constant > 0 || !workspace.isConstant();
  if (!arguments.hasWorkspace)
    return arguments;
  arguments.types.push_back(MemRefType::get(
      {workspace.isConstant() ? workspace.constant : kUnknownElements},
      IntegerType::get(kernel.getContext(), 8)));
  arguments.bytes.push_back(workspace);
  return arguments;
}

//===- KernelFunction ----------------------------------------------------===//

KernelFunction::KernelFunction(KernelOp kernel)
    : builder(kernel.getContext()), location(kernel.getLoc()),
      numInputs(kernel.getInputs().size()) {}

void KernelFunction::start(FunctionOpInterface made,
                           const LaunchArguments &arguments,
                           const SizeFormula &tiles,
                           const SizeFormula &workspace) {
  function = made;
  MLIRContext *context = builder.getContext();
  function->setAttr("tessera.launch", attributeOf(context, tiles));
  if (arguments.hasWorkspace)
    function->setAttr("tessera.workspace", attributeOf(context, workspace));
  for (size_t i = 0; i < arguments.types.size(); ++i)
    function.setArgAttr(i, "llvm.noalias", builder.getUnitAttr());
  builder.setInsertionPointToStart(&function.getFunctionBody().front());
  for (int64_t argument : arguments.outputs)
    outputBuffers.push_back(function.getArgument(argument));
  if (arguments.hasWorkspace)
    workspaceBuffer = function.getArgument(arguments.types.size() - 1);
}

Value KernelFunction::number(int64_t value) {
  return arith::ConstantIndexOp::create(builder, location, value);
}

Value KernelFunction::openLoop(Value low, Value high, int64_t step) {
  auto loop = scf::ForOp::create(builder, location, low, high, number(step));
  open.push_back(loop);
  builder.setInsertionPointToStart(loop.getBody());
  return loop.getInductionVar();
}

void KernelFunction::openIf(Value condition) {
  auto branch = scf::IfOp::create(builder, location, condition, false);
  open.push_back(branch);
  builder.setInsertionPointToStart(branch.thenBlock());
}

void KernelFunction::close() {
  builder.setInsertionPointAfter(open.pop_back_val());
}

void KernelFunction::finish() {
  while (!open.empty())
    close();
}

//===- Launch ------------------------------------------------------------===//

Launch::Launch(ModuleOp module, KernelOp kernel, StringRef name,
               const SizeFormula &tiles, const SizeFormula &workspace)
    : KernelFunction(kernel) {
  LaunchArguments arguments = launchArguments(kernel, workspace);
  SmallVector<Type> types = arguments.types;
  types.append(2, builder.getIndexType());
  builder.setInsertionPointToEnd(module.getBody());
  auto made = func::FuncOp::create(builder, location, name,
                                   builder.getFunctionType(types, {}));
  made.addEntryBlock();
  start(made, arguments, tiles, workspace);
}

Value Launch::forEachTile() {
  auto arguments = function.getArguments();
  return openLoop(arguments[arguments.size() - 2], arguments.back(), 1);
}

void Launch::finish() {
  KernelFunction::finish();
  func::ReturnOp::create(builder, location);
}

} // namespace tessera::lowering
