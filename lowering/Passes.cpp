// The stages as passes, for tools. Each works on the function `main`.
#include "lowering/Passes.h"
#include "dialects/Tessera/IR/Tessera.h"
#include "lowering/Pipeline.h"

using namespace mlir;

namespace tessera::lowering {

#define GEN_PASS_DEF_TOTENSORPASS
#define GEN_PASS_DEF_TOKERNELSPASS
#define GEN_PASS_DEF_TOPLANPASS
#include "lowering/Passes.h.inc"

static LogicalResult requireMain(ModuleOp module) {
  func::FuncOp function = mainFunction(module);
  if (!function || function.isExternal() || !function.getBody().hasOneBlock())
    return module.emitError("a program is a function named main of one block");
  return success();
}

namespace {
struct ToTensorPass : impl::ToTensorPassBase<ToTensorPass> {
  void runOnOperation() override {
    if (failed(requireMain(getOperation())) ||
        failed(toTensorStage(getOperation())))
      signalPassFailure();
  }
};

struct ToKernelsPass : impl::ToKernelsPassBase<ToKernelsPass> {
  using ToKernelsPassBase::ToKernelsPassBase;
  void runOnOperation() override {
    if (failed(requireMain(getOperation())) ||
        failed(toKernelsStage(getOperation(), fuse)))
      signalPassFailure();
  }
};

struct ToPlanPass : impl::ToPlanPassBase<ToPlanPass> {
  void runOnOperation() override {
    if (failed(requireMain(getOperation())) ||
        failed(toPlanStage(getOperation())))
      signalPassFailure();
  }
};
} // namespace

} // namespace tessera::lowering
