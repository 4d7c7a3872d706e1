// tessera explain: what became of a program, as a page of text.
#include "lowering/Compiler.h"
#include "lowering/Explain.h"
#include "tools/tessera/Program.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

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
  os << "\n" << explain(program.main());
  writeOutput(arguments.has(OPT_o) ? arguments.text(OPT_o) : "-", text);
  return kOk;
}

} // namespace tessera::tool
