// The lowering for the emulator, step by step.
#include "lowering/GPU/Sim/LowerToSim.h"
#include "lowering/GPU/Sim/SimBuilder.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

using namespace mlir;

namespace tessera::lowering {

namespace {

/// What is in a gpu.module moves to the module. What is for the device, such as
/// its data layout, goes.
LogicalResult flatten(ModuleOp module) {
  for (auto gpu :
       llvm::make_early_inc_range(module.getOps<gpu::GPUModuleOp>())) {
    for (Operation &op : llvm::make_early_inc_range(*gpu.getBody())) {
      auto name =
          op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
      if (name && module.lookupSymbol(name))
        return op.emitError("two gpu.modules define @") << name.getValue();
      op.moveBefore(gpu);
    }
    gpu.erase();
  }
  SmallVector<StringAttr> attributes;
  for (NamedAttribute attribute : module->getDiscardableAttrs())
    attributes.push_back(attribute.getName());
  for (StringAttr name : attributes)
    module->removeDiscardableAttr(name);
  return success();
}

/// Only ops that say what they do to one thread may remain.
LogicalResult checkOp(Operation *op) {
  if (isa<NVVM::NVVMDialect>(op->getDialect()))
    return op->emitOpError("is not known to the emulator");
  if (isa<LLVM::InlineAsmOp>(op))
    return op->emitOpError("is PTX, which the emulator cannot run: it takes "
                           "ops of the NVVM dialect");
  if (isa<LLVM::CallIntrinsicOp>(op))
    return op->emitOpError("calls an intrinsic by name: the emulator takes ops "
                           "of the NVVM dialect");
  if (!isa<LLVM::LLVMDialect, BuiltinDialect>(op->getDialect()))
    return op->emitOpError("is of a dialect that the emulator does not take: "
                           "expected the LLVM and NVVM dialects");
  auto isNarrowShared = [&](Value pointer, Type number) {
    auto type = dyn_cast<LLVM::LLVMPointerType>(pointer.getType());
    return type && type.getAddressSpace() == 3 &&
           number.getIntOrFloatBitWidth() < 64;
  };
  if (auto cast = dyn_cast<LLVM::PtrToIntOp>(op);
      cast && isNarrowShared(cast.getArg(), cast.getType()))
    return op->emitOpError("makes a number of less than 64 bits of an address "
                           "in shared memory");
  return success();
}

LogicalResult lowerOps(SimBuilder &b) {
  SmallVector<Operation *> ops;
  b.module.walk([&](Operation *op) {
    if (op->getParentOfType<LLVM::LLVMFuncOp>())
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    b.setInsertionPoint(op);
    if (auto address = dyn_cast<LLVM::AddressOfOp>(op)) {
      if (failed(b.lowerAddress(address)))
        return failure();
      continue;
    }
    SimLowering lowered = SimLowering::unknown();
    for (auto *lower : {lowerWarpOp, lowerMatrixOp, lowerMemoryOp})
      if (!lowered.isKnown)
        lowered = lower(b, op);
    if (failed(lowered.result) || (!lowered.isKnown && failed(checkOp(op))))
      return failure();
  }
  return success();
}

/// Constants of the module live in ordinary memory.
void moveGlobals(ModuleOp module) {
  for (auto global : module.getOps<LLVM::GlobalOp>()) {
    global.setAddrSpace(0);
    global.setLinkage(LLVM::Linkage::Internal);
  }
}

} // namespace

void registerSimDialects(DialectRegistry &registry) {
  registry.insert<LLVM::LLVMDialect, NVVM::NVVMDialect, gpu::GPUDialect,
                  DLTIDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

LogicalResult lowerToSim(ModuleOp module, const SimOptions &options) {
  if (failed(flatten(module)))
    return failure();
  SimBuilder b(module, options);
  if (failed(addLaneParameters(b)) || failed(b.layOutShared()))
    return failure();
  moveGlobals(module);
  for (auto func : module.getOps<LLVM::LLVMFuncOp>()) {
    yieldBeforeLooks(b, func);
    instrument(b, func);
  }
  if (failed(lowerOps(b)))
    return failure();
  addKernelTables(b);
  return success();
}

} // namespace tessera::lowering
