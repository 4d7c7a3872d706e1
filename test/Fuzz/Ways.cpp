// Compiled ways, from every stage.
#include "test/Fuzz/Ways.h"
#include "dialects/Tessera/Transforms/Passes.h"
#include "lowering/Compiler.h"
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

FailureOr<Ways> carriedWays(func::FuncOp program) {
  auto module = copyProgram(program, false);
  if (failed(module))
    return failure();
  std::vector<std::pair<std::string, std::string>> stages;
  lowering::ProgramOptions options;
  options.threads = 1;
  options.observe = [&](lowering::Stage stage, StringRef, StringRef text) {
    stages.emplace_back(lowering::nameOf(stage), text);
  };
  std::string error;
  if (failed(
          lowering::lowerTo(**module, lowering::Stage::plan, options, error)))
    return program.emitError("does not reach the plan: ") << error;
  options.observe = nullptr;
  Ways ways;
  for (auto &[name, text] : stages) {
    auto parsed = parseSourceString<ModuleOp>(text, program.getContext());
    if (!parsed)
      return program.emitError("does not parse back in the stage ") << name;
    auto executable = lowering::compile(*parsed, options, error);
    if (failed(executable))
      return program.emitError("does not compile from the stage ")
             << name << ": " << error;
    ways.push_back(
        numerics::compiledVariant("from the stage " + name, *executable, 1));
  }
  return ways;
}

} // namespace tessera::fuzz
