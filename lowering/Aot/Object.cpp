// Compiles kernels and plan for each target, and links them into one module.
#include "lowering/Aot/Object.h"
#include "dialects/Tessera/IR/Symbols.h"
#include "lowering/Aot/Api.h"
#include "lowering/Aot/FoldWeights.h"
#include "lowering/CodeGen/Hash.h"
#include "lowering/Compiler.h"
#include "lowering/Math/ExpandMath.h"
#include "lowering/Pipeline.h"
#include "lowering/Plan/PlanMemory.h"
#include "lowering/Symbols.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/TargetParser/Triple.h"
#include <chrono>
#include <thread>

using namespace llvm;

namespace tessera::lowering {

namespace {

/// Tells how long a step took, when it ends.
class Timed {
public:
  Timed(const AotOptions &options, std::string step)
      : options(options), step(std::move(step)) {}
  ~Timed() {
    if (options.timing)
      options.timing(
          step, std::chrono::duration<double, std::milli>(Clock::now() - start)
                    .count());
  }

private:
  using Clock = std::chrono::steady_clock;
  const AotOptions &options;
  std::string step;
  Clock::time_point start = Clock::now();
};

class AheadOfTime {
public:
  AheadOfTime(mlir::ModuleOp module, const AotOptions &options)
      : module(module), standIns(ir::symbolCount(module)), options(options) {}

  Expected<AotProgram> run() {
    if (Error error = prepare())
      return std::move(error);
    program.code.module =
        std::make_unique<llvm::Module>(options.name, *program.code.context);
    for (const TargetInfo &target : options.targets)
      if (Error error = addTarget(target))
        return std::move(error);
    for (Function &function : *program.code.module)
      if (!function.isDeclaration())
        function.setLinkage(GlobalValue::InternalLinkage);
    limitSizes();
    if (Error error = addApi(*program.code.module, program, options, codes))
      return std::move(error);
    // What runs before the CPU is known to fit must run on any.
    if (program.machine.isX86())
      for (Function &function : *program.code.module)
        if (!function.isDeclaration() && !function.hasFnAttribute("target-cpu"))
          function.addFnAttr("target-cpu", "x86-64");
    return std::move(program);
  }

private:
  Error prepare() {
    Timed timed(options, "stages");
    if (Error error = bind(/*isFirst=*/true))
      return error;
    if (mlir::FailureOr<Stage> stage = stageOf(module);
        options.embedWeights && mlir::succeeded(stage) &&
        *stage <= Stage::tensor)
      foldWeightTransposes(mainFunction(module), options.weights, folded);
    if (ir::StandIns::count() > 0)
      ir::writeSymbols(module);
    std::string error;
    ProgramOptions lower;
    lower.fuse = options.fuse;
    if (mlir::failed(lowerTo(module, Stage::plan, lower, error)))
      return createStringError(StringRef(error).rtrim());
    if (Error error = bind(/*isFirst=*/false))
      return error;
    Expected<Interface> interface = interfaceOf(mainFunction(module));
    if (!interface)
      return interface.takeError();
    program.interface = std::move(*interface);
    for (const Port &argument : program.interface.arguments) {
      bool embeds =
          options.embedWeights && argument.isWeight && argument.partner < 0;
      program.embedded.push_back(embeds);
      if (!embeds)
        continue;
      auto weight = options.weights.find(argument.name);
      if (weight == options.weights.end())
        return createStringError("the weights file has no '" + argument.name +
                                 "'");
      if (int64_t(weight->second.bytes.size()) != argument.bytes())
        return createStringError(
            "the weight '" + argument.name + "' is " + typeName(argument.type) +
            ", but the file has " + Twine(weight->second.bytes.size()) +
            " bytes for it");
      program.embeddedBytes += argument.bytes();
    }
    program.machine = options.targets.back();
    program.hash = hashOf();
    return Error::success();
  }

  /// Puts stand-ins in the place of symbols, from the file and again after the
  /// stages, which leave the module as a file has it. What the sizes may be
  /// follows from the program as it was written.
  Error bind(bool isFirst) {
    if (ir::StandIns::count() == 0)
      return Error::success();
    std::string text;
    mlir::ScopedDiagnosticHandler handler(
        module.getContext(), [&](mlir::Diagnostic &diagnostic) {
          raw_string_ostream(text) << diagnostic;
          return mlir::success();
        });
    if (mlir::failed(ir::bindSymbols(module)))
      return createStringError(text);
    if (!isFirst) {
      limitSums(module, program.symbols);
      return Error::success();
    }
    auto symbols = symbolsOf(module);
    if (mlir::failed(symbols))
      return createStringError(text);
    program.symbols = std::move(*symbols);
    return Error::success();
  }

  /// The bytes of tensors and arena can be counted.
  void limitSizes() {
    auto limit = [&](const Port &port) {
      if (const auto &dim = port.symbolic)
        limitBytes(program.symbols[size_t(dim->symbol)],
                   port.bytes() * dim->coefficient);
    };
    for_each(program.interface.arguments, limit);
    for_each(program.interface.results, limit);
    for (const TargetCode &code : codes)
      limitArena(code.plan, program.symbols);
  }

  std::string hashOf() {
    std::string text;
    raw_string_ostream os(text);
    module.print(os, mlir::OpPrintingFlags().enableDebugInfo(false));
    std::vector<std::string> keys{text, compilerVersion()};
    for (const TargetInfo &target : options.targets)
      keys.push_back(target.key());
    std::vector<StringRef> parts(keys.begin(), keys.end());
    for (auto [i, argument] : enumerate(program.interface.arguments))
      if (program.embedded[i])
        parts.push_back(options.weights.lookup(argument.name).bytes);
    return hashHex(parts).substr(0, 32);
  }

  Error addTarget(const TargetInfo &target) {
    KernelCompileOptions compile;
    compile.target = target;
    compile.threads = options.threads > 0
                          ? options.threads
                          : std::max(1u, std::thread::hardware_concurrency());
    compile.expandMath = expandKernelMath;
    compile.debugInfo = options.debugInfo;
    Timed timed(options, "kernels for " + target.cpu);
    mlir::func::FuncOp main = mainFunction(module);
    Expected<std::vector<KernelBitcode>> kernels =
        compileKernelBitcode(kernelJobs(main, target), compile);
    if (!kernels)
      return kernels.takeError();
    SmallVector<ArrayRef<LaunchInfo>> launches;
    StringSet<> linked;
    for (const KernelBitcode &kernel : *kernels) {
      launches.push_back(kernel.launches);
      bool isNew = kernel.launches.empty() ||
                   linked.insert(kernel.launches.front().symbol).second;
      if (isNew)
        if (Error error = linkInto(program.code, kernel.bytes))
          return error;
    }
    TargetCode code{target, makePlan(main, launches),
                    "tessera_entry_" + std::to_string(codes.size())};
    noteArena(code.plan);
    if (Error error = addEntry(code))
      return error;
    codes.push_back(std::move(code));
    return Error::success();
  }

  Error addEntry(const TargetCode &code) {
    Expected<IRModule> ir = planIR(code.plan, code.entry, code.target);
    if (!ir)
      return ir.takeError();
    std::string bytes;
    raw_string_ostream os(bytes);
    WriteBitcodeToFile(*ir->module, os);
    return linkInto(program.code, bytes);
  }

  /// The arena holds what the plan needs, and the new values of arguments that
  /// are not computed in place. With symbols the object computes it.
  void noteArena(const Plan &plan) {
    if (plan.symbols > 0)
      return;
    int64_t bytes = plan.arenaBytes;
    for (auto [i, result] : enumerate(program.interface.results))
      if (result.partner >= 0 && plan.aliases[i] != result.partner)
        bytes = alignTo(bytes, 64) + result.bytes();
    program.arenaBytes = std::max(program.arenaBytes, bytes);
  }

  mlir::ModuleOp module;
  ir::StandIns standIns;
  AotOptions options; ///< weights change with what is folded into them
  std::deque<std::string> folded;
  AotProgram program;
  std::vector<TargetCode> codes;
};

} // namespace

Expected<AotProgram> compileAhead(mlir::ModuleOp module,
                                  const AotOptions &options) {
  assert(!options.targets.empty() && "code is compiled for a target");
  return AheadOfTime(module, options).run();
}

} // namespace tessera::lowering
