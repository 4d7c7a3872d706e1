// tessera-ptx: compiles a GPU kernel module for one or more architectures,
// prints what it becomes, or checks the code against a budget.
#include "lowering/GPU/Compile.h"
#include "lowering/GPU/Cubin.h"
#include "lowering/Math/ExpandMath.h"
#include "mlir/Parser/Parser.h"
#include "test/Gpu/driver/PtxCheck.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include <ctime>

using namespace llvm;
using namespace tessera::lowering;
using namespace tessera::test;

namespace {

cl::opt<std::string> inputFile(cl::Positional, cl::init("-"),
                               cl::desc("<kernel module>"));
cl::list<std::string> archs("arch", cl::CommaSeparated,
                            cl::desc("Architectures, or all"));
cl::opt<std::string>
    emitKind("emit", cl::init("ptx"),
             cl::desc("nvvm, llvm, ptx, cubin, time or check"));
cl::opt<int> maxRegisters("max-registers",
                          cl::init(GpuTarget::kRegistersPerThread));
cl::opt<int> maxSpill("max-spill", cl::init(0), cl::desc("bytes"));
cl::opt<int> maxShared("max-shared", cl::init(0), cl::desc("bytes"));
cl::opt<double> minOccupancy("min-occupancy", cl::init(0));
cl::list<std::string> expected("expect", cl::desc("A text the PTX must have"));
cl::list<std::string> forbidden("forbid", cl::desc("One it must not have"));

const mlir::DialectRegistry &dialects() {
  static const mlir::DialectRegistry *registry = [] {
    auto *all = new mlir::DialectRegistry;
    registerGpuDialects(*all);
    return all;
  }();
  return *registry;
}

/// The input, which every architecture parses anew.
std::unique_ptr<MemoryBuffer> source;

GpuCompileOptions optionsFor(const TargetInfo &target, bool cubin) {
  GpuCompileOptions options;
  options.target = target;
  options.lower.expandMath = expandKernelMath;
  options.cubin = cubin;
  return options;
}

/// Compiles a kernel module, or the first of those that the loops stage holds.
Expected<GpuCode> compileFile(const GpuCompileOptions &options) {
  mlir::MLIRContext context(dialects(), mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(source->getBuffer(),
                                                        &context, inputFile);
  if (!module)
    return createStringError("it does not parse");
  auto kernels = module->getOps<mlir::ModuleOp>();
  return compileGpuKernel(kernels.empty() ? *module : *kernels.begin(),
                          options);
}

Error emitStage(const TargetInfo &target, StringRef wanted) {
  GpuCompileOptions options = optionsFor(target, wanted == "cubin");
  options.dump = [&](StringRef stage, StringRef text) {
    if (stage == wanted)
      outs() << text;
  };
  Expected<GpuCode> code = compileFile(options);
  if (!code)
    return code.takeError();
  if (wanted == "cubin" && code->cubin.empty())
    return linkCubin(code->ptx, target).takeError();
  outs() << code->cubin;
  return Error::success();
}

Error check(const TargetInfo &target) {
  Expected<GpuCode> code = compileFile(optionsFor(target, false));
  if (!code)
    return code.takeError();
  PtxBudget budget{maxRegisters, maxSpill, maxShared,
                   minOccupancy, expected, forbidden};
  PtxReport report = checkPtx(code->ptx, target, code->launches, budget);
  for (const PtxFigures &kernel : report.kernels)
    outs() << formatv("{0}: {1}: {2} registers, {3} bytes spilled, {4} bytes "
                      "shared, occupancy {5:P0} ({6})\n",
                      target.cpu, kernel.usage.name, kernel.usage.registers,
                      kernel.usage.spillStores + kernel.usage.spillLoads,
                      kernel.shared, kernel.occupancy.fraction,
                      kernel.occupancy.limitedBy);
  if (!report.assembled && report.faults.empty())
    outs() << target.cpu << ": not assembled, there is no ptxas\n";
  Error faults = Error::success();
  for (const std::string &fault : report.faults)
    faults = joinErrors(std::move(faults), createStringError(fault));
  return faults;
}

/// Prints the least of several times, past the caches, once all is warm: of the
/// processor, since other programs may be running.
Error time(const TargetInfo &target) {
  double least = 1e9, leastCubin = 1e9;
  auto milliseconds = [start = std::clock()]() mutable {
    std::clock_t now = std::clock();
    double passed = 1e3 * double(now - start) / CLOCKS_PER_SEC;
    start = now;
    return passed;
  };
  for (int round = 0; round < 10; ++round) {
    milliseconds();
    Expected<GpuCode> code = compileFile(optionsFor(target, false));
    if (!code)
      return code.takeError();
    least = std::min(least, milliseconds());
    if (cubinLinkerVersion().empty())
      continue;
    milliseconds();
    if (auto cubin = linkCubin(code->ptx, target); !cubin)
      return cubin.takeError();
    leastCubin = std::min(leastCubin, milliseconds());
  }
  outs() << formatv("{0}: PTX {1:F1} ms, cubin {2:F1} ms\n", target.cpu, least,
                    leastCubin);
  return Error::success();
}

Error runFor(StringRef arch) {
  Expected<TargetInfo> target = gpuTargetFor(arch);
  if (!target)
    return target.takeError();
  if (emitKind == "check")
    return check(*target);
  if (emitKind == "time")
    return time(*target);
  return emitStage(*target, emitKind);
}

} // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv,
                              "GPU kernels to PTX, and its check\n");
  auto input = MemoryBuffer::getFileOrSTDIN(inputFile);
  if (!input) {
    errs() << inputFile << ": error: " << input.getError().message() << "\n";
    return 1;
  }
  source = std::move(*input);
  std::vector<std::string> names(archs.begin(), archs.end());
  if (names.empty())
    names = {"sm_80"};
  if (names.front() == "all") {
    names.clear();
    for (const GpuTarget &gpu : gpuTargets())
      names.push_back(gpu.name.str());
  }
  bool failed = false;
  for (const std::string &name : names)
    if (Error error = runFor(name)) {
      errs() << inputFile << ": error: " << toString(std::move(error)) << "\n";
      failed = true;
    }
  return failed;
}
