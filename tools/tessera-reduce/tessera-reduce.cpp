// tessera-reduce: makes a program that shows a fault smaller, by a script that
// says whether a smaller one still shows it.
#include "dialects/Tessera/IR/Tessera.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Reducer/Tester.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "mlir/Transforms/Passes.h"
#include "tools/tessera-reduce/ReduceProgram.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace {

/// What mlir-reduce's own passes cannot do: ops give way to their operands or
/// to arguments, results go, sizes shrink, and the program stays whole.
struct ProgramReduction
    : PassWrapper<ProgramReduction, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ProgramReduction)

  ProgramReduction() = default;
  ProgramReduction(const ProgramReduction &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "program-reduction"; }
  StringRef getDescription() const override {
    return "Reduce a program of the trace or the tensor stage; `test` is a "
           "script that exits with 1 for a file that shows the fault";
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!llvm::sys::fs::can_execute(script)) {
      module.emitError("the script `test` cannot be run: '") << script << "'";
      return signalPassFailure();
    }
    Tester tester(script, {});
    auto isInteresting = [&](ModuleOp candidate) {
      return tester.isInteresting(candidate).first ==
             Tester::Interestingness::True;
    };
    if (!isInteresting(module)) {
      module.emitError("the script does not find the fault in the file itself");
      return signalPassFailure();
    }
    OwningOpRef<ModuleOp> smallest =
        tessera::reduceProgram(module, isInteresting);
    module.getBodyRegion().takeBody(smallest->getBodyRegion());
  }

  Option<std::string> script{*this, "test",
                             llvm::cl::desc("The script, as for the others")};
};

} // namespace

int main(int argc, char **argv) {
  DialectRegistry registry;
  registry.insert<tessera::ir::TesseraDialect, func::FuncDialect,
                  arith::ArithDialect>();
  PassRegistration<ProgramReduction>();
  registerTransformsPasses();
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  return failed(mlirReduceMain(argc, argv, context));
}
