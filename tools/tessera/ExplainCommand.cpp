// tessera explain: what became of a program, as a page of text.
#include "lowering/Compiler.h"
#include "lowering/Explain.h"
#include "lowering/Pipeline.h"
#include "runtime/Executable.h"
#include "runtime/Roof.h"
#include "tools/tessera/Program.h"
#include "llvm/Support/Format.h"
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

/// The median time of a kernel by itself, on one thread.
static double secondsOf(ir::KernelOp kernel) {
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
    (*compiled)->run(inputs, outputs, /*threads=*/1);
    times.push_back(
        std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2,
                   times.end());
  return times[times.size() / 2];
}

/// Each kernel's time beside what its arithmetic and its memory traffic need
/// at least.
static std::vector<KernelTime> timesOf(mlir::func::FuncOp function) {
  double flopsRate = runtime::fmaGflops(1) * 1e9;
  std::map<int, double> bandwidths; // by the logarithm of the bytes
  std::vector<KernelTime> times;
  for (ir::KernelOp kernel : function.getOps<ir::KernelOp>()) {
    Cost cost = costOf(kernel);
    int size = std::clamp(int(Log2_64_Ceil(uint64_t(cost.bytes) | 1)), 14, 26);
    auto [rate, isNew] = bandwidths.try_emplace(size);
    if (isNew) {
      runtime::Bandwidth measured =
          runtime::bandwidth(1, (size_t(1) << size) / 2);
      rate->second =
          std::max({measured.copy, measured.stream, measured.read}) * 1e9;
    }
    double memory = double(cost.bytes) / rate->second;
    double arithmetic = double(cost.flops) / flopsRate;
    KernelTime time;
    time.seconds = secondsOf(kernel);
    time.fraction = std::max(memory, arithmetic) / time.seconds;
    time.boundByMemory = memory > arithmetic;
    times.push_back(time);
  }
  return times;
}

int runExplain(const Arguments &arguments) {
  Program program(arguments);
  std::string text;
  raw_string_ostream os(text);
  os << program.path << "\n";
  const Interface &interface = program.interface();
  printPorts(os, "takes", interface.arguments, interface.results);
  printPorts(os, "gives", interface.results, interface.arguments);

  ProgramOptions options;
  options.fuse = !arguments.has(OPT_no_fuse);
  options.threads = 1;
  if (std::vector<std::string> names = arguments.parts(OPT_target);
      !names.empty()) {
    if (names.size() > 1)
      failUsage("explain takes one --target");
    Expected<TargetInfo> target = targetFor(names.front());
    if (!target)
      failUsage("--target: " + toString(target.takeError()));
    options.target = *target;
  }
  // Sizes of the stages: ops, or lines where a stage is a text.
  os << "\nstages\n";
  struct Count {
    int64_t ops = 0, kernels = 0, bytes = 0;
  };
  std::map<Stage, Count> counts;
  options.observe = [&](Stage stage, StringRef kernel, StringRef stageText) {
    Count &count = counts[stage];
    count.bytes += int64_t(stageText.size());
    if (stage <= Stage::plan)
      count.ops = countOps(program.main());
    else
      count.ops += int64_t(stageText.count('\n'));
    count.kernels += !kernel.empty();
  };
  std::string error;
  if (failed(lowerTo(program.module(), Stage::code, options, error)))
    fail(StringRef(error).rtrim());
  for (const auto &[stage, count] : counts) {
    os << format("  %-8s", nameOf(stage).str().c_str());
    if (stage <= Stage::plan)
      os << format("%8lld ops", static_cast<long long>(count.ops));
    else
      os << format("%8lld lines in %lld kernels",
                   static_cast<long long>(count.ops),
                   static_cast<long long>(count.kernels));
    os << "\n";
  }
  // Only this machine's code can be timed.
  std::vector<KernelTime> times;
  if (arguments.has(OPT_time)) {
    if (options.target)
      failUsage("--time measures this machine's CPU, and goes without "
                "--target");
    times = timesOf(program.main());
  }
  os << "\n" << explain(program.main(), times);
  writeOutput(arguments.has(OPT_o) ? arguments.text(OPT_o) : "-", text);
  return kOk;
}

} // namespace tessera::tool
