// Functions and calls: each gets the thread that it runs as.
#include "lowering/GPU/Sim/SimBuilder.h"

using namespace mlir;

namespace tessera::lowering {

namespace {

/// More than this of local arrays does not fit a fibre's stack.
constexpr int64_t kMostLocalBytes = 32 << 10;

LogicalResult checkLocals(SimBuilder &b, LLVM::LLVMFuncOp func) {
  int64_t bytes = 0;
  WalkResult result = func.walk([&](LLVM::AllocaOp op) {
    APInt count;
    if (!matchPattern(op.getArraySize(), m_ConstantInt(&count))) {
      op.emitOpError("has a size that is not constant");
      return WalkResult::interrupt();
    }
    bytes +=
        int64_t(b.layout.getTypeSize(op.getElemType())) * count.getSExtValue();
    if (bytes <= kMostLocalBytes)
      return WalkResult::advance();
    op.emitOpError("is past the ")
        << kMostLocalBytes << " bytes of local arrays that the emulator has";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// The function anew, without attributes that speak of the device or promise
/// that nobody else writes to memory: other threads run while it waits.
LLVM::LLVMFuncOp remake(SimBuilder &b, LLVM::LLVMFuncOp old) {
  b.setInsertionPoint(old);
  SmallVector<Type> types = {b.ptr};
  llvm::append_range(types, old.getArgumentTypes());
  std::string name = old.getName().str();
  old.setName(name + ".old");
  auto func = LLVM::LLVMFuncOp::create(
      b, old.getLoc(), name,
      LLVM::LLVMFunctionType::get(old.getFunctionType().getReturnType(), types),
      LLVM::Linkage::Internal);
  func.getBody().takeBody(old.getBody());
  func.front().insertArgument(0u, b.ptr, old.getLoc());
  for (StringRef kept : {"nvvm.kernel", "nvvm.reqntid", "nvvm.maxntid"})
    if (Attribute value = old->getAttr(kept))
      func->setAttr(kept, value);
  if (old->hasAttr("gpu.kernel"))
    func->setAttr("nvvm.kernel", b.getUnitAttr());
  // A parameter that is passed by value comes as a pointer to it.
  SmallVector<int64_t> byValue;
  for (unsigned i = 0; i < old.getNumArguments(); ++i)
    if (old.getArgAttr(i, LLVM::LLVMDialect::getByValAttrName()))
      byValue.push_back(i);
  func->setAttr("by_value", b.getDenseI64ArrayAttr(byValue));
  old.erase();
  return func;
}

LogicalResult passLane(SimBuilder &b, LLVM::CallOp call) {
  std::optional<StringRef> name = call.getCallee();
  if (!name)
    return call.emitOpError("is indirect, which the emulator does not take");
  auto callee = b.module.lookupSymbol<LLVM::LLVMFuncOp>(*name);
  if (!callee || callee.isExternal())
    return call.emitOpError("calls @")
           << *name << ", which the emulator does not have";
  b.setInsertionPoint(call);
  SmallVector<Value> args = {b.lane()};
  llvm::append_range(args, call.getOperands());
  auto anew = LLVM::CallOp::create(b, call.getLoc(), callee, args);
  call.replaceAllUsesWith(anew);
  call.erase();
  return success();
}

} // namespace

LogicalResult addLaneParameters(SimBuilder &b) {
  SmallVector<LLVM::LLVMFuncOp> functions(b.module.getOps<LLVM::LLVMFuncOp>());
  for (LLVM::LLVMFuncOp func : functions) {
    if (func.isExternal())
      continue;
    if (failed(checkLocals(b, func)))
      return failure();
    remake(b, func);
  }
  SmallVector<LLVM::CallOp> calls;
  b.module.walk([&](LLVM::CallOp call) { calls.push_back(call); });
  for (LLVM::CallOp call : calls)
    if (failed(passLane(b, call)))
      return failure();
  return success();
}

} // namespace tessera::lowering
