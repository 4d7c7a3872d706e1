// Builds the functions of GPU kernel modules.
#include "lowering/GPU/BlockLaunch.h"
#include "lowering/CodeGen/Formula.h"
#include "lowering/Kernels/Launch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering::simt {

static gpu::GPUModuleOp kernelsOf(ModuleOp module) {
  auto found = module.getOps<gpu::GPUModuleOp>();
  if (!found.empty())
    return *found.begin();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  return gpu::GPUModuleOp::create(builder, module.getLoc(), "kernels");
}

BlockLaunch::BlockLaunch(ModuleOp module, KernelOp kernel, StringRef name,
                         const runtime::SizeFormula &blocks, int64_t threads,
                         const runtime::SizeFormula &workspace)
    : builder(module.getContext()), location(kernel.getLoc()),
      numInputs(kernel.getInputs().size()) {
  LaunchArguments arguments = launchArguments(kernel, workspace);
  builder.setInsertionPointToEnd(kernelsOf(module).getBody());
  function = gpu::GPUFuncOp::create(
      builder, location, name, builder.getFunctionType(arguments.types, {}));
  MLIRContext *context = builder.getContext();
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());
  function.setKnownBlockSizeAttr(
      builder.getDenseI32ArrayAttr({int32_t(threads), 1, 1}));
  function->setAttr("tessera.launch", attributeOf(context, blocks));
  if (arguments.hasWorkspace)
    function->setAttr("tessera.workspace", attributeOf(context, workspace));
  for (size_t i = 0; i < arguments.types.size(); ++i)
    function.setArgAttr(i, "llvm.noalias", builder.getUnitAttr());
  builder.setInsertionPointToStart(&function.getBody().front());
  for (int64_t argument : arguments.outputs)
    outputBuffers.push_back(function.getArgument(argument));
  blockId = gpu::BlockIdOp::create(builder, location, gpu::Dimension::x);
  threadId = gpu::ThreadIdOp::create(builder, location, gpu::Dimension::x);
}

Value BlockLaunch::number(int64_t value) {
  return arith::ConstantIndexOp::create(builder, location, value);
}

Value BlockLaunch::shared(Type element, int64_t count) {
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get({count}, element, AffineMap(), space);
  return function.addWorkgroupAttribution(type, location);
}

void BlockLaunch::barrier() { gpu::BarrierOp::create(builder, location); }

Value BlockLaunch::openLoop(Value low, Value high, int64_t step) {
  auto loop = scf::ForOp::create(builder, location, low, high, number(step));
  open.push_back(loop);
  builder.setInsertionPointToStart(loop.getBody());
  return loop.getInductionVar();
}

void BlockLaunch::openIf(Value condition) {
  auto branch = scf::IfOp::create(builder, location, condition, false);
  open.push_back(branch);
  builder.setInsertionPointToStart(branch.thenBlock());
}

void BlockLaunch::close() {
  builder.setInsertionPointAfter(open.pop_back_val());
}

void BlockLaunch::finish() {
  while (!open.empty())
    close();
  gpu::ReturnOp::create(builder, location);
}

} // namespace tessera::lowering::simt
