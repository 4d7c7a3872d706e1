// tessera explain: what became of a program, as a page of text.
#include "lowering/Compiler.h"
#include "lowering/Dump.h"
#include "lowering/Explain.h"
#include "lowering/Pipeline.h"
#include "runtime/Executable.h"
#include "runtime/Roof.h"
#include "runtime/ThreadPool.h"
#include "tools/tessera/Program.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <chrono>
#include <cstring>

using namespace llvm;
using namespace tessera::lowering;

namespace tessera::tool {

/// Ops of a stage, those within kernels included.
static int64_t countOps(mlir::func::FuncOp function) {
  int64_t count = 0;
  function.walk([&](mlir::Operation *op) {
    count += op != function && !op->hasTrait<mlir::OpTrait::IsTerminator>();
  });
  return count;
}

/// One of the stages: ops, or lines where it is a text of kernels.
struct StageSize {
  int64_t size = 0, kernels = 0;
};

//===-- Page and JSON --===//

static void printPorts(raw_ostream &os, StringRef title, ArrayRef<Port> ports,
                       ArrayRef<Port> others) {
  for (const Port &port : ports) {
    os << "  " << title << " " << port.name << ": " << typeName(port.type);
    if (port.isWeight)
      os << ", a weight";
    if (port.partner >= 0)
      os << (title == "takes" ? ", updated by " : ", the new value of ")
         << others[port.partner].name;
    os << "\n";
  }
}

static json::Array jsonOf(ArrayRef<Port> ports, ArrayRef<Port> others) {
  json::Array array;
  for (const Port &port : ports) {
    json::Object object{{"name", port.name}, {"type", typeName(port.type)}};
    if (port.isWeight)
      object["weight"] = true;
    if (port.partner >= 0)
      object["partner"] = others[port.partner].name;
    array.push_back(std::move(object));
  }
  return array;
}

static std::string pageOf(Program &program,
                          const std::map<Stage, StageSize> &stages,
                          ArrayRef<KernelTime> times) {
  std::string text;
  raw_string_ostream os(text);
  os << program.path << "\n";
  const Interface &interface = program.interface();
  printPorts(os, "takes", interface.arguments, interface.results);
  printPorts(os, "gives", interface.results, interface.arguments);
  os << "\nstages\n";
  for (const auto &[stage, count] : stages) {
    os << format("  %-8s", nameOf(stage).str().c_str());
    if (stage <= Stage::plan)
      os << format("%8lld ops", static_cast<long long>(count.size));
    else
      os << format("%8lld lines in %lld kernels",
                   static_cast<long long>(count.size),
                   static_cast<long long>(count.kernels));
    os << "\n";
  }
  os << "\n" << explain(program.main(), times);
  return text;
}

static std::string jsonOf(Program &program,
                          const std::map<Stage, StageSize> &stages,
                          ArrayRef<KernelTime> times) {
  const Interface &interface = program.interface();
  json::Array sizes;
  for (const auto &[stage, count] : stages)
    sizes.push_back(
        json::Object{{"name", nameOf(stage)},
                     {stage <= Stage::plan ? "ops" : "lines", count.size}});
  json::Object object = explainAsJson(program.main(), times);
  object["file"] = program.path;
  object["takes"] = jsonOf(interface.arguments, interface.results);
  object["gives"] = jsonOf(interface.results, interface.arguments);
  object["stages"] = std::move(sizes);
  return formatv("{0:2}\n", json::Value(std::move(object))).str();
}

//===-- Times --===//

/// Random numbers, or zeros where they are indices.
static runtime::Storage anyValue(mlir::Type type) {
  auto tensor = llvm::cast<mlir::RankedTensorType>(type);
  Port port{"", "", tensor};
  runtime::Storage value = runtime::Storage::allocate(size_t(port.bytes()));
  std::memset(value.data(), 0, value.bytes());
  if (tensor.getElementType().isF32())
    for (int64_t i = 0; i < port.elements(); ++i)
      static_cast<float *>(value.data())[i] = float(i % 17) / 16 - 0.5f;
  return value;
}

/// The median time of a kernel by itself.
static double secondsOf(ir::KernelOp kernel, int threads) {
  mlir::OwningOpRef<mlir::ModuleOp> module = programOf(kernel);
  std::vector<runtime::Storage> inputs;
  for (mlir::Type type : mainFunction(*module).getArgumentTypes())
    inputs.push_back(anyValue(type));
  std::string error;
  auto compiled = compile(*module, {}, error);
  if (failed(compiled))
    fail(StringRef(error).rtrim(), kInternalError);
  std::vector<double> times;
  using Clock = std::chrono::steady_clock;
  Clock::time_point end = Clock::now() + std::chrono::milliseconds(50);
  std::vector<runtime::Storage> outputs((*compiled)->info().outputs.size());
  for (int i = 0; i < 7 || (i < 1000 && Clock::now() < end); ++i) {
    Clock::time_point start = Clock::now();
    (*compiled)->run(inputs, outputs, threads);
    times.push_back(
        std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2,
                   times.end());
  return times[times.size() / 2];
}

/// Each kernel's time beside what its arithmetic and its memory traffic need
/// at least.
static std::vector<KernelTime> timesOf(mlir::func::FuncOp function,
                                       int threads) {
  double flopsRate = runtime::fmaGflops(threads) * 1e9;
  std::map<int, double> bandwidths; // by the logarithm of the bytes
  std::vector<KernelTime> times;
  for (ir::KernelOp kernel : function.getOps<ir::KernelOp>()) {
    Cost cost = costOf(kernel);
    int size = std::clamp(int(Log2_64_Ceil(uint64_t(cost.bytes) | 1)), 14, 26);
    auto [rate, isNew] = bandwidths.try_emplace(size);
    if (isNew) {
      runtime::Bandwidth measured =
          runtime::bandwidth(threads, (size_t(1) << size) / 2);
      rate->second =
          std::max({measured.copy, measured.stream, measured.read}) * 1e9;
    }
    double memory = double(cost.bytes) / rate->second;
    double arithmetic = double(cost.flops) / flopsRate;
    KernelTime time;
    time.seconds = secondsOf(kernel, threads);
    time.fraction = std::max(memory, arithmetic) / time.seconds;
    time.boundByMemory = memory > arithmetic;
    times.push_back(time);
  }
  return times;
}

/// What to compile for, unless that is this machine's CPU.
static std::optional<TargetInfo> targetOf(const Arguments &arguments) {
  std::vector<std::string> names = arguments.parts(OPT_target);
  if (names.empty())
    return std::nullopt;
  if (names.size() > 1)
    failUsage("explain takes one --target");
  // Only this machine's code can be timed.
  if (arguments.has(OPT_time))
    failUsage("--time measures this machine's CPU, and goes without --target");
  return targetNamed(names.front());
}

int runExplain(const Arguments &arguments) {
  ProgramOptions options;
  options.target = targetOf(arguments);
  options.fuse = isFusing(arguments);
  options.threads = int(arguments.integer(OPT_threads, 1, 1024, 0));
  Program program(arguments);
  Dump files(dumpFolder(arguments), program.module().getLoc());
  std::map<Stage, StageSize> stages;
  options.observe = [&](Stage stage, StringRef kernel, StringRef text) {
    files.write(stage, kernel, text);
    StageSize &count = stages[stage];
    count.size += stage <= Stage::plan ? countOps(program.main())
                                       : int64_t(text.count('\n'));
    count.kernels += !kernel.empty();
  };
  std::string error;
  if (failed(lowerTo(program.module(), Stage::code, options, error)))
    failCompilation(error);
  std::vector<KernelTime> times;
  if (arguments.has(OPT_time))
    times =
        timesOf(program.main(),
                options.threads > 0 ? options.threads : runtime::numThreads());
  writeOutput(arguments.text(OPT_o, "-"), arguments.has(OPT_json)
                                              ? jsonOf(program, stages, times)
                                              : pageOf(program, stages, times));
  return kOk;
}

} // namespace tessera::tool
