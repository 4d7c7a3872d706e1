// tessera bench: how long a call takes, and how near that is to what the
// program's arithmetic and memory traffic allow.
#include "lowering/Explain.h"
#include "tools/tessera/Tensors.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <chrono>

using namespace llvm;
using namespace tessera::lowering;

namespace tessera::tool {

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

int runBench(const Arguments &arguments) {
  Program program(arguments);
  program.loadWeights(arguments);
  std::vector<runtime::Storage> inputs = argumentValues(program, arguments);
  auto start = Clock::now();
  Runner runner(program, arguments);
  double compile = secondsSince(start);
  inputs = runner.place(inputs);
  start = Clock::now();
  runner.run(inputs);
  runner.wait();
  double first = secondsSince(start);
  int64_t repeats = arguments.integer(
      OPT_repeat, 1, 1'000'000'000,
      std::clamp<int64_t>(int64_t(1.0 / std::max(first, 1e-7)), 5, 1'000'000));
  std::vector<double> times;
  times.reserve(size_t(repeats));
  for (int64_t i = 0; i < repeats; ++i) {
    start = Clock::now();
    runner.run(inputs);
    runner.wait();
    times.push_back(secondsSince(start));
  }
  std::sort(times.begin(), times.end());
  double median = times[times.size() / 2], least = times.front();
  // The interpreter runs the trace, which has no kernels to count.
  Cost cost;
  if (stageOf(program.module()).value_or(Stage::trace) == Stage::plan)
    cost = costOf(program.main());
  if (arguments.has(OPT_json)) {
    outs() << format("{\"compile_ms\": %.3f, \"first_ms\": %.6f, "
                     "\"median_ms\": %.6f, \"least_ms\": %.6f, \"calls\": "
                     "%lld, \"flops\": %lld, \"bytes\": %lld}\n",
                     compile * 1e3, first * 1e3, median * 1e3, least * 1e3,
                     static_cast<long long>(repeats),
                     static_cast<long long>(cost.flops),
                     static_cast<long long>(cost.bytes));
    return kOk;
  }
  outs() << format("compile  %12.3f ms\nfirst    %12.3f ms\nmedian   %12.3f "
                   "us of %lld calls\nleast    %12.3f us\n",
                   compile * 1e3, first * 1e3, median * 1e6,
                   static_cast<long long>(repeats), least * 1e6);
  if (cost.flops > 0)
    outs() << format("         %12.2f GFLOP/s\n",
                     double(cost.flops) / median * 1e-9);
  if (cost.bytes > 0)
    outs() << format("         %12.2f GB/s\n",
                     double(cost.bytes) / median * 1e-9);
  return kOk;
}

} // namespace tessera::tool
