// tessera run: one call, whose results are printed, written or compared.
#include "frontend/io/Npy.h"
#include "tools/tessera/Tensors.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera::lowering;

namespace tessera::tool {

/// The number of the result that a flag names.
static size_t resultNamed(const Program &program, StringRef name,
                          StringRef flag) {
  SmallVector<StringRef> names;
  for (auto [i, port] : enumerate(program.interface().results)) {
    if (port.name == name)
      return i;
    names.push_back(port.name);
  }
  fail(flag + ": there is no result '" + name + "'" + suggestion(name, names));
}

static std::string fileOf(StringRef value, StringRef flag) {
  if (!value.consume_front("@") || value.empty())
    failUsage(flag + " takes NAME=@FILE.npy, and not '" + value + "'");
  return value.str();
}

int runRun(const Arguments &arguments) {
  double rtol = arguments.number(OPT_rtol, 1e-5);
  double atol = arguments.number(OPT_atol, 1e-8);
  if (!arguments.has(OPT_expect))
    arguments.refuse({OPT_rtol, OPT_atol}, "without --expect");
  Program program(arguments);
  program.loadWeights(arguments);
  // What is wrong with the flags is said before anything is computed.
  std::map<size_t, std::string> outputs;
  std::map<size_t, io::RawTensor> expected;
  for (const auto &[name, value] : arguments.assignments(OPT_output))
    outputs[resultNamed(program, name, "--output")] = fileOf(value, "--output");
  for (const auto &[name, value] : arguments.assignments(OPT_expect))
    expected[resultNamed(program, name, "--expect")] =
        io::readNpy(fileOf(value, "--expect"));

  std::vector<runtime::Storage> inputs = argumentValues(program, arguments);
  std::vector<runtime::Storage> results =
      Runner(program, arguments).run(inputs);
  for (runtime::Storage &result : results)
    result = result.onHost();
  int code = kOk;
  for (auto [i, port] : enumerate(program.interface().results)) {
    if (auto file = outputs.find(i); file != outputs.end())
      io::writeNpy(file->second, asFile(port, results[i]));
    if (auto tensor = expected.find(i); tensor != expected.end()) {
      std::string text =
          difference(port, results[i], tensor->second, rtol, atol);
      if (!text.empty()) {
        errs() << "tessera: error: " << text << "\n";
        code = kDiffers;
      }
    }
  }
  // Only when nothing more can fail.
  for (auto [i, port] : enumerate(program.interface().results))
    if (!outputs.count(i) && !expected.count(i))
      outs() << printed(port, results[i]);
  return code;
}

} // namespace tessera::tool
