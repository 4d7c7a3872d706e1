// Builds the functions of GPU kernel modules.
#include "lowering/GPU/BlockLaunch.h"
#include "lowering/CodeGen/Formula.h"
#include "lowering/GPU/LowerToNVVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tessera::ir;
using tessera::runtime::SizeFormula;

namespace tessera::lowering::simt {

static gpu::GPUModuleOp kernelsOf(ModuleOp module) {
  auto found = module.getOps<gpu::GPUModuleOp>();
  if (!found.empty())
    return *found.begin();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  return gpu::GPUModuleOp::create(builder, module.getLoc(), "kernels");
}

BlockLaunch::BlockLaunch(ModuleOp module, KernelOp kernel, StringRef name,
                         const SizeFormula &blocks, int64_t threads,
                         const SizeFormula &workspace)
    : KernelFunction(kernel) {
  LaunchArguments arguments = launchArguments(kernel, workspace);
  builder.setInsertionPointToEnd(kernelsOf(module).getBody());
  auto made = gpu::GPUFuncOp::create(
      builder, location, name, builder.getFunctionType(arguments.types, {}));
  made->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                builder.getUnitAttr());
  made.setKnownBlockSizeAttr(
      builder.getDenseI32ArrayAttr({int32_t(threads), 1, 1}));
  auto bytes = llvm::map_to_vector(
      arguments.bytes, [&](const SizeFormula &formula) -> Attribute {
        return attributeOf(builder.getContext(), formula);
      });
  made->setAttr(kBufferBytes, builder.getArrayAttr(bytes));
  start(made, arguments, blocks, workspace);
  blockId = gpu::BlockIdOp::create(builder, location, gpu::Dimension::x);
  threadId = gpu::ThreadIdOp::create(builder, location, gpu::Dimension::x);
}

Value BlockLaunch::shared(Type element, int64_t count) {
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get({count}, element, AffineMap(), space);
  auto kernel = cast<gpu::GPUFuncOp>(function.getOperation());
  Value array = kernel.addWorkgroupAttribution(type, location);
  // As any buffer it is aligned to any vector.
  kernel.setWorkgroupAttributionAttr(kernel.getNumWorkgroupAttributions() - 1,
                                     LLVM::LLVMDialect::getAlignAttrName(),
                                     builder.getI64IntegerAttr(64));
  return array;
}

Value BlockLaunch::dynamicShared(int64_t bytes) {
  function->setAttr("tessera.shared", builder.getI64IntegerAttr(bytes));
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type(),
                              AffineMap(), space);
  return gpu::DynamicSharedMemoryOp::create(builder, location, type);
}

void BlockLaunch::sideBySide(int64_t blocks) {
  function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    builder.getI32IntegerAttr(blocks));
}

void BlockLaunch::barrier() { gpu::BarrierOp::create(builder, location); }

void BlockLaunch::finish() {
  KernelFunction::finish();
  gpu::ReturnOp::create(builder, location);
}

} // namespace tessera::lowering::simt
