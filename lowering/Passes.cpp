// The stages as passes, for tools.
#include "lowering/Passes.h"
#include "dialects/Tessera/IR/Symbols.h"
#include "dialects/Tessera/IR/Tessera.h"
#include "lowering/CodeGen/GpuTarget.h"
#include "lowering/GPU/LowerToNVVM.h"
#include "lowering/Math/ExpandMath.h"
#include "lowering/Pipeline.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering {

#define GEN_PASS_DEF_TOTENSORPASS
#define GEN_PASS_DEF_TOKERNELSPASS
#define GEN_PASS_DEF_TOPLANPASS
#define GEN_PASS_DEF_TOLOOPSPASS
#define GEN_PASS_DEF_TOLLVMPASS
#define GEN_PASS_DEF_LOWERTONVVMPASS
#include "lowering/Passes.h.inc"

/// Checks that the module is in the stage `from`, and leads it to the next.
static LogicalResult advance(ModuleOp module, Stage from,
                             llvm::function_ref<LogicalResult(ModuleOp)> step) {
  StandIns standIns(symbolCount(module));
  if (StandIns::count() > 0 && failed(bindSymbols(module)))
    return failure();
  if (failed(verifyStage(module, from)) || failed(step(module)))
    return failure();
  if (StandIns::count() > 0)
    writeSymbols(module);
  return success();
}

namespace {
struct ToTensorPass : impl::ToTensorPassBase<ToTensorPass> {
  void runOnOperation() override {
    if (failed(advance(getOperation(), Stage::trace, toTensorStage)))
      signalPassFailure();
  }
};

struct ToKernelsPass : impl::ToKernelsPassBase<ToKernelsPass> {
  using ToKernelsPassBase::ToKernelsPassBase;
  void runOnOperation() override {
    if (failed(advance(getOperation(), Stage::tensor, [&](ModuleOp module) {
          return toKernelsStage(module, fuse);
        })))
      signalPassFailure();
  }
};

struct ToPlanPass : impl::ToPlanPassBase<ToPlanPass> {
  void runOnOperation() override {
    if (failed(advance(getOperation(), Stage::kernels, toPlanStage)))
      signalPassFailure();
  }
};

/// The target of an option, a CPU or a GPU, or this machine.
static FailureOr<TargetInfo> targetOf(StringRef name, ModuleOp module) {
  auto target = name.empty()      ? hostTargetOrError()
                : isGpuName(name) ? gpuTargetFor(name)
                                  : targetFor(name);
  if (!target)
    return module.emitError(llvm::toString(target.takeError()));
  return *target;
}

struct ToLoopsPass : impl::ToLoopsPassBase<ToLoopsPass> {
  using ToLoopsPassBase::ToLoopsPassBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<TargetInfo> info = targetOf(target, module);
    StandIns standIns(symbolCount(module));
    if (failed(info) ||
        (StandIns::count() > 0 && failed(bindSymbols(module))) ||
        failed(verifyStage(module, Stage::plan)))
      return signalPassFailure();
    SmallVector<OwningOpRef<ModuleOp>> kernels;
    if (tf32)
      allowTF32(*info);
    for (KernelJob &job : kernelJobs(mainFunction(module), *info)) {
      auto kernel = job.build(getContext());
      if (failed(kernel))
        return signalPassFailure();
      (*kernel)->setName(job.name);
      kernels.push_back(std::move(*kernel));
    }
    module.getBody()->clear();
    for (OwningOpRef<ModuleOp> &kernel : kernels)
      module.push_back(kernel.release());
    markStage(module, Stage::loops);
  }
};

struct ToLLVMPass : impl::ToLLVMPassBase<ToLLVMPass> {
  using ToLLVMPassBase::ToLLVMPassBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<TargetInfo> target = targetOf(cpu, module);
    if (succeeded(target) && target->gpu) {
      module.emitError("a GPU's kernels are lowered by tessera-lower-to-nvvm");
      return signalPassFailure();
    }
    LowerOptions options{expandKernelMath, ""};
    if (failed(target) || failed(lowerKernelModule(module, *target, options)))
      signalPassFailure();
  }
};

struct LowerToNVVMPass : impl::LowerToNVVMPassBase<LowerToNVVMPass> {
  using LowerToNVVMPassBase::LowerToNVVMPassBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto target = gpuTargetFor(arch);
    if (!target) {
      module.emitError(llvm::toString(target.takeError()));
      return signalPassFailure();
    }
    LowerOptions options{expandKernelMath, ""};
    if (failed(lowerGpuModule(module, *target, options)))
      signalPassFailure();
  }
};
} // namespace

} // namespace tessera::lowering
