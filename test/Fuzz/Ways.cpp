// Compiled ways, from every stage.
#include "test/Fuzz/Ways.h"
#include "dialects/Tessera/Transforms/Passes.h"
#include "lowering/Compiler.h"
#include "lowering/Pipeline.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace tessera::fuzz {

FailureOr<OwningOpRef<ModuleOp>> copyProgram(func::FuncOp program,
                                             bool gradient) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(program.getLoc());
  func::FuncOp main = program.clone();
  module->push_back(main);
  if (!gradient)
    return module;
  PassManager passes(program.getContext());
  passes.addPass(ir::createAutodiffPass());
  if (failed(passes.run(*module)))
    return failure();
  auto twin = *std::next(module->getOps<func::FuncOp>().begin());
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    twin.setArgAttrs(i, main.getArgAttrDict(i));
  twin.setName(main.getName());
  main.erase();
  return module;
}

static std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out, OpPrintingFlags().enableDebugInfo());
  return text;
}

FailureOr<Ways> carriedWays(func::FuncOp program) {
  auto module = copyProgram(program, false);
  if (failed(module))
    return failure();
  std::pair<const char *, std::function<LogicalResult(ModuleOp)>> stages[] = {
      {"trace", [](ModuleOp) { return success(); }},
      {"tensor", lowering::toTensorStage},
  };
  Ways ways;
  for (auto &[name, run] : stages) {
    if (failed(run(**module)))
      return program.emitError("does not reach the stage ") << name;
    auto parsed =
        parseSourceString<ModuleOp>(textOf(**module), program.getContext());
    if (!parsed)
      return program.emitError("does not parse back in the stage ") << name;
    lowering::ProgramOptions options;
    options.threads = 1;
    std::string error;
    auto executable = lowering::compile(*parsed, options, error);
    if (failed(executable))
      return program.emitError("does not compile from the stage ")
             << name << ": " << error;
    ways.push_back(numerics::compiledVariant(
        std::string("from the stage ") + name, *executable, 1));
  }
  return ways;
}

} // namespace tessera::fuzz
