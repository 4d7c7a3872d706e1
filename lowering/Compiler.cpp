// Runs the pipeline and makes an executable of its result.
#include "lowering/Compiler.h"
#include "dialects/Tessera/IR/Symbols.h"
#include "dialects/Tessera/IR/Tessera.h"
#include "lowering/Aot/Interface.h"
#include "lowering/CodeGen/GpuTarget.h"
#include "lowering/DeviceProgram.h"
#include "lowering/Dump.h"
#include "lowering/GPU/Compile.h"
#include "lowering/GPU/Sim/Launches.h"
#include "lowering/Kernels/Symbolic.h"
#include "lowering/Math/ExpandMath.h"
#include "lowering/Pipeline.h"
#include "lowering/Plan/PlanMemory.h"
#include "lowering/ProgramCache.h"
#include "lowering/PtxListing.h"
#include "lowering/Symbols.h"
#include "mlir/IR/Diagnostics.h"
#include "runtime/Environment.h"
#include "runtime/Executable.h"
#include "llvm/ADT/StringSet.h"
#include <thread>

using namespace mlir;

namespace tessera::lowering {

static runtime::BufferInfo bufferOf(Type type, int aliasOf = -1) {
  auto tensor = cast<RankedTensorType>(type);
  runtime::DType dtype = dtypeOf(tensor.getElementType());
  std::vector<int64_t> shape = tensor.getShape().vec();
  if (!ir::isSymbolic(type))
    return runtime::BufferInfo::make(dtype, std::move(shape), aliasOf);
  runtime::BufferInfo info;
  info.dtype = dtype;
  info.aliasOf = aliasOf;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    ir::Extent extent = ir::extentOf(size);
    if (!extent.isSymbolic())
      continue;
    info.symbolic.push_back(
        {int64_t(dim), extent.symbol, extent.coefficient, extent.constant});
    size = -1;
  }
  info.shape = std::move(shape);
  return info;
}

static Stage stageOfDump(DumpStage stage) {
  switch (stage) {
  case DumpStage::Loops:
    return Stage::loops;
  case DumpStage::LLVM:
    return Stage::llvm;
  case DumpStage::Code:
    return Stage::code;
  }
  llvm_unreachable("unknown stage");
}

namespace {
/// One compilation: stages, then code. A program that the disk cache knows
/// skips the stages.
class Compilation {
public:
  Compilation(ModuleOp module, const ProgramOptions &options, Dump &dump,
              std::string &error)
      : module(module), options(options), dump(dump), error(error),
        standIns(ir::symbolCount(module)) {}

  FailureOr<std::shared_ptr<runtime::Executable>> run() {
    if (failed(prepare()))
      return failure();
    std::string key = programKey();
    if (auto known = fromCache(key))
      return known;
    return compileAnew(key);
  }

  LogicalResult runTo(Stage last) {
    if (failed(prepare()) || failed(runStages(last)))
      return failure();
    if (last > Stage::plan) {
      auto objects = compileKernelObjects(
          kernelJobs(mainFunction(module), target), compile);
      if (!objects)
        return fail(objects.takeError());
    }
    if (ir::StandIns::count() > 0)
      ir::writeSymbols(module);
    return success();
  }

  FailureOr<std::string> runToPTX() {
    if (failed(prepare()) || failed(runStages(Stage::plan)))
      return failure();
    func::FuncOp main = mainFunction(module);
    auto kernels = compileKernelBitcode(kernelJobs(main, target), compile);
    if (!kernels)
      return fail(kernels.takeError());
    PtxProgram program;
    IRModule ir;
    ir.module = std::make_unique<llvm::Module>("program", *ir.context);
    SmallVector<ArrayRef<LaunchInfo>> launches;
    llvm::StringSet<> linked;
    for (const KernelBitcode &kernel : *kernels) {
      launches.push_back(kernel.launches);
      if (kernel.launches.empty() ||
          !linked.insert(kernel.launches.front().symbol).second)
        continue;
      if (llvm::Error wrong = linkInto(ir, kernel.bytes))
        return fail(std::move(wrong));
      llvm::append_range(program.launches, kernel.launches);
    }
    auto ptx = gpuLowering.emit(ir, target);
    if (!ptx)
      return fail(ptx.takeError());
    program.ptx = std::move(*ptx);
    program.arch = target.cpu;
    program.plan = makePlan(main, launches);
    if (ir::StandIns::count() > 0)
      ir::writeSymbols(module);
    program.interface = llvm::cantFail(interfaceOf(main));
    return listPtx(program);
  }

private:
  LogicalResult prepare() {
    if (options.target) {
      target = *options.target;
    } else {
      auto host = hostTargetOrError();
      if (!host)
        return fail(host.takeError());
      target = *host;
    }
    compile.target = target;
    if (target.isDevice()) {
      compile.lowering = &gpuLowering;
    } else if (target.gpu) {
      compile.lowering = &emulatorLowering;
      if (llvm::Error undefined = defineEmulator())
        return fail(std::move(undefined));
    }
    compile.threads = options.threads > 0
                          ? options.threads
                          : std::max(1u, std::thread::hardware_concurrency());
    compile.expandMath = expandKernelMath;
    if (isObserved())
      compile.dump = [this](const KernelJob &job, DumpStage stage,
                            StringRef text) {
        observe(stageOfDump(stage), job.name, text);
      };
    return success();
  }

  bool isObserved() const { return dump.enabled() || options.observe; }

  void observe(Stage stage, StringRef kernel, StringRef text) {
    dump.write(stage, kernel, text);
    if (options.observe)
      options.observe(stage, kernel, text);
  }

  void observeModule(Stage stage) {
    if (!isObserved())
      return;
    std::string text;
    llvm::raw_string_ostream out(text);
    auto flags = OpPrintingFlags().enableDebugInfo(true, /*prettyForm=*/false);
    if (ir::StandIns::count() > 0) {
      OwningOpRef<ModuleOp> shown = module.clone();
      ir::writeSymbols(*shown);
      shown->print(out, flags);
    } else {
      module.print(out, flags);
    }
    observe(stage, "", text);
  }

  /// What determines the code: the program without its locations, and how it is
  /// compiled.
  std::string programKey() {
    std::string text = options.fuse ? "fused\n" : "unfused\n";
    llvm::raw_string_ostream out(text);
    // A GPU's errors name lines.
    module.print(
        out,
        OpPrintingFlags().enableDebugInfo(target.isDevice()).useLocalScope());
    return ObjectCache::keyFor(text, target);
  }

  std::shared_ptr<runtime::Executable> fromCache(const std::string &key) {
    if (isObserved() || ir::StandIns::count() > 0 || isEmulatedDriver())
      return nullptr;
    auto bytes = ObjectCache::instance().get("program", key);
    auto entry = bytes ? decodeProgram(*bytes) : std::nullopt;
    if (!entry ||
        entry->plan.aliases.size() != mainFunction(module).getNumResults())
      return nullptr;
    std::vector<KernelJob> jobs;
    for (const std::string &kernel : entry->kernelKeys)
      jobs.push_back(
          {kernel, "cached", [](MLIRContext &) { return failure(); }});
    if (target.isDevice()) {
      auto objects = compileKernelObjects(jobs, compile);
      if (objects)
        return makeDeviceExecutable(entry->plan, *objects, nullptr);
      llvm::consumeError(objects.takeError());
      return nullptr;
    }
    auto kernels = compileKernels(jobs, compile);
    if (!kernels) { // A kernel is gone from the cache.
      llvm::consumeError(kernels.takeError());
      return nullptr;
    }
    auto code = loadPlan(entry->plan, *kernels, target);
    if (!code) {
      llvm::consumeError(code.takeError());
      return nullptr;
    }
    return makeExecutable(entry->plan, *code);
  }

  FailureOr<std::shared_ptr<runtime::Executable>>
  compileAnew(const std::string &key) {
    if (failed(runStages(Stage::plan)))
      return failure();
    limitSums(module, symbols);
    std::vector<KernelJob> jobs = kernelJobs(mainFunction(module), target);
    if (target.isDevice())
      return compileForDevice(key, jobs);
    auto kernels = compileKernels(jobs, compile);
    if (!kernels)
      return fail(kernels.takeError());
    SmallVector<ArrayRef<LaunchInfo>> launches;
    for (const auto &kernel : *kernels)
      launches.push_back(kernel->launches);
    ProgramEntry entry{makePlan(mainFunction(module), launches), {}};
    auto code = loadPlan(entry.plan, *kernels, target);
    if (!code)
      return fail(code.takeError());
    remember(key, entry, jobs);
    return makeExecutable(entry.plan, *code);
  }

  FailureOr<std::shared_ptr<runtime::Executable>>
  compileForDevice(const std::string &key, ArrayRef<KernelJob> jobs) {
    compile.machineCode = !isEmulatedDriver();
    auto kernels = compileKernelObjects(jobs, compile);
    if (!kernels)
      return fail(kernels.takeError());
    std::shared_ptr<void> emulated;
    if (isEmulatedDriver()) {
      auto code = addToEmulatedDriver(jobs, *kernels, compile);
      if (!code)
        return fail(code.takeError());
      emulated = std::move(*code);
    }
    SmallVector<ArrayRef<LaunchInfo>> launches;
    for (const KernelObject &kernel : *kernels)
      launches.push_back(kernel.launches);
    ProgramEntry entry{makePlan(mainFunction(module), launches), {}};
    remember(key, entry, jobs);
    return makeDeviceExecutable(entry.plan, *kernels, std::move(emulated));
  }

  /// Whether the kernels of a GPU are run by the emulator, as in tests.
  bool isEmulatedDriver() const {
    return target.isDevice() && runtime::cuda::Driver::instance().addKernel;
  }

  void remember(const std::string &key, ProgramEntry &entry,
                ArrayRef<KernelJob> jobs) {
    for (const KernelJob &job : jobs)
      entry.kernelKeys.push_back(job.key);
    if (!isObserved() && ir::StandIns::count() == 0)
      ObjectCache::instance().put("program", key, encodeProgram(entry));
  }

  /// Runs the stages that remain up to `last`.
  LogicalResult runStages(Stage last) {
    ScopedDiagnosticHandler handler(
        module.getContext(), [&](Diagnostic &diagnostic) {
          llvm::raw_string_ostream(error) << diagnostic << "\n";
          return success();
        });
    if (ir::StandIns::count() > 0 && ir::hasSymbols(module) &&
        failed(ir::bindSymbols(module)))
      return failure();
    FailureOr<Stage> stage = stageOf(module);
    if (failed(stage))
      return failure();
    if (ir::StandIns::count() > 0) {
      auto found = symbolsOf(module);
      if (failed(found))
        return failure();
      symbols = std::move(*found);
    }
    markStage(module, *stage);
    observeModule(*stage);
    for (Stage next : {Stage::tensor, Stage::kernels, Stage::plan}) {
      if (next <= *stage || next > last)
        continue;
      if (failed(advance(next))) {
        error = "internal error: the " + nameOf(next).str() +
                " stage cannot be made: " + error;
        return failure();
      }
      observeModule(next);
    }
    return success();
  }

  LogicalResult advance(Stage next) {
    switch (next) {
    case Stage::tensor:
      return toTensorStage(module);
    case Stage::kernels:
      return toKernelsStage(module, options.fuse);
    default:
      return toPlanStage(module);
    }
  }

  LogicalResult fail(llvm::Error reason) {
    error += llvm::toString(std::move(reason));
    return failure();
  }

  std::shared_ptr<runtime::Executable>
  makeExecutable(const Plan &plan, const CompiledPlan &code) {
    runtime::ExecutableInfo info;
    if (target.gpu)
      info.device = runtime::Device("sim:" + target.gpu->name.str());
    info.entry = reinterpret_cast<tessera_entry_fn>(code.entry);
    info.keepAlive = code.code;
    return makeExecutable(plan, std::move(info));
  }

  std::shared_ptr<runtime::Executable>
  makeDeviceExecutable(const Plan &plan, ArrayRef<KernelObject> kernels,
                       std::shared_ptr<void> emulated) {
    runtime::cuda::Gpu &gpu = runtime::cuda::Gpu::at(options.gpu);
    runtime::ExecutableInfo info;
    info.device = runtime::Device(gpu.str());
    info.keepAlive = std::move(emulated);
    info.program = std::make_shared<const runtime::cuda::Program>(
        gpu, programCode(plan, kernels, target));
    return makeExecutable(plan, std::move(info));
  }

  std::shared_ptr<runtime::Executable>
  makeExecutable(const Plan &plan, runtime::ExecutableInfo info) {
    func::FuncOp function = mainFunction(module);
    info.name = "main";
    info.arenaBytes = plan.arenaBytes;
    info.dumpFolder = dump.path();
    for (Type type : function.getArgumentTypes())
      info.inputs.push_back(bufferOf(type));
    for (auto [type, alias] :
         llvm::zip_equal(function.getResultTypes(), plan.aliases))
      info.outputs.push_back(bufferOf(type, alias));
    limitArena(plan, symbols);
    info.symbols = symbols;
    info.arenaPer = plan.arenaPer;
    info.workspaces = plan.workspaces;
    for (auto [i, input] : llvm::enumerate(info.inputs))
      if (auto name = function.getArgAttrOfType<StringAttr>(i, kName))
        input.name = name.str();
    return std::make_shared<runtime::Executable>(std::move(info));
  }

  ModuleOp module;
  const ProgramOptions &options;
  Dump &dump;
  std::string &error;
  ir::StandIns standIns;
  std::vector<runtime::SymbolInfo> symbols;
  TargetInfo target;
  KernelCompileOptions compile;
};
} // namespace

FailureOr<std::shared_ptr<runtime::Executable>>
compile(ModuleOp module, const ProgramOptions &options, std::string &error) {
  Dump dump(options.dump.empty()
                ? runtime::readVariable(runtime::Variable::Dump).value_or("")
                : options.dump,
            module.getLoc());
  return Compilation(module, options, dump, error).run();
}

LogicalResult lowerTo(ModuleOp module, Stage last,
                      const ProgramOptions &options, std::string &error) {
  Dump none("", module.getLoc());
  return Compilation(module, options, none, error).runTo(last);
}

FailureOr<std::string> compileToPTX(ModuleOp module,
                                    const ProgramOptions &options,
                                    std::string &error) {
  Dump none("", module.getLoc());
  return Compilation(module, options, none, error).runToPTX();
}

llvm::Expected<IRModule> readKernel(llvm::MemoryBufferRef text, Stage stage,
                                    const TargetInfo &target) {
  if (stage == Stage::llvm)
    return parseIR(text.getBuffer(), text.getBufferIdentifier());
  if (stage != Stage::loops)
    return llvm::createStringError("a kernel is compiled from its loops stage "
                                   "or its llvm stage, not from the " +
                                   nameOf(stage) + " stage");
  KernelCompileOptions options;
  options.target = target;
  options.expandMath = expandKernelMath;
  return lowerLoops(text, options);
}

llvm::Expected<std::string> compileKernel(llvm::MemoryBufferRef text,
                                          Stage stage,
                                          const TargetInfo &target) {
  auto ir = readKernel(text, stage, target);
  if (!ir)
    return ir.takeError();
  return emitObject(std::move(*ir), target);
}

} // namespace tessera::lowering
