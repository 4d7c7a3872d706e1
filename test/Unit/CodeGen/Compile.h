// One kernel module to a loaded object, without the cache, for tests.
#pragma once
#include "KernelModules.h"
#include "lowering/CodeGen/Jit.h"
#include "lowering/CodeGen/LowerToLLVM.h"
#include "lowering/CodeGen/Optimize.h"
#include "runtime/HostAbi.h"

namespace tessera::test {

using Kernel = tessera_kernel_fn;

inline llvm::Expected<lowering::IRModule>
toIR(mlir::ModuleOp module, const lowering::TargetInfo &target,
     const lowering::LowerOptions &options = {}) {
  if (mlir::failed(lowering::lowerKernelModule(module, target, options)))
    return llvm::createStringError("the module does not lower");
  auto ir = lowering::translateToIR(module);
  if (!ir)
    return ir.takeError();
  if (llvm::Error error = lowering::optimize(*ir, target))
    return std::move(error);
  return ir;
}

inline llvm::Expected<std::string>
toObject(mlir::ModuleOp module, const lowering::TargetInfo &target,
         const lowering::LowerOptions &options = {}) {
  auto ir = toIR(module, target, options);
  if (!ir)
    return ir.takeError();
  return lowering::emitObject(std::move(*ir), target);
}

} // namespace tessera::test
