// Scopes by upstream's pass, after the locations are reduced to what it bears.
#include "lowering/CodeGen/DebugLines.h"
#include "lowering/CodeGen/UserPlace.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace tessera::lowering {

namespace {

/// Lines are of their function's file unless they have a scope that says
/// otherwise.
void scopeForeignFiles(LLVM::LLVMFuncOp func) {
  auto fused =
      func.getLoc()->findInstanceOf<FusedLocWith<LLVM::DISubprogramAttr>>();
  if (!fused)
    return;
  LLVM::DISubprogramAttr scope = fused.getMetadata();
  FileLineColLoc own = userPlace(fused);
  MLIRContext *context = func.getContext();
  func.getBody().walk([&](Operation *op) {
    auto place = dyn_cast<FileLineColLoc>(op->getLoc());
    if (!place || (own && place.getFilename() == own.getFilename()))
      return;
    StringRef path = place.getFilename();
    auto file = LLVM::DIFileAttr::get(context, llvm::sys::path::filename(path),
                                      llvm::sys::path::parent_path(path));
    op->setLoc(FusedLoc::get(
        context, {place},
        LLVM::DILexicalBlockFileAttr::get(context, scope, file, 0)));
  });
}

} // namespace

void addDebugLines(ModuleOp module, LLVM::DIEmissionKind kind) {
  module->walk([&](Operation *op) {
    if (FileLineColLoc place = userPlace(op->getLoc()))
      op->setLoc(place);
  });
  LLVM::DIScopeForLLVMFuncOpPassOptions scopes;
  scopes.emissionKind = kind;
  PassManager passes(module.getContext());
  passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass(scopes));
  if (failed(passes.run(module)))
    return; // without scopes there are no lines, and no harm
  for (auto func : module.getOps<LLVM::LLVMFuncOp>())
    scopeForeignFiles(func);
}

} // namespace tessera::lowering
