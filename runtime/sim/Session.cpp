// Runs the launches of a program: what a launch is comes as a table of numbers
// beside the kernel's code.
#include "runtime/sim/Session.h"

#include "runtime/FloatEnv.h"
#include "runtime/Profiler.h"
#include "runtime/SizeFormula.h"
#include "runtime/ThreadPool.h"
#include "runtime/sim/Block.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace tessera::runtime::sim {

namespace {

thread_local Session *session = nullptr;

// Reads the table that tessera_sim_run() gets.
class LaunchTable {
public:
  LaunchTable(const int64_t *numbers, void *const *buffers) : next(numbers) {
    config.block.x = uint32_t(number());
    config.dynamicSharedBytes = uint32_t(number());
    config.maxSharedBytes = uint32_t(number());
    const int64_t count = number(), dimsAt = number();
    auto *dims =
        dimsAt < 0 ? nullptr : static_cast<const int64_t *>(buffers[dimsAt]);
    config.grid.x = uint32_t(std::max<int64_t>(1, formula(dims)));
    for (int64_t i = 0; i < count; ++i) {
      args.push_back(const_cast<void **>(&buffers[i]));
      extents.push_back({buffers[i], size_t(formula(dims)), true});
    }
  }

  LaunchConfig config;
  std::vector<void *> args;
  std::vector<Extent> extents;

private:
  int64_t number() { return *next++; }
  int64_t formula(const int64_t *dims) {
    SizeFormula formula{number(), {}};
    for (int64_t left = number(); left > 0; --left) {
      SizeFormula::Term &term = formula.terms.emplace_back();
      for (int64_t *value : {&term.symbol, &term.times, &term.coefficient,
                             &term.plus, &term.divisor})
        *value = number();
    }
    return formula.at(dims);
  }

  const int64_t *next;
};

} // namespace

Session::Session(int threads)
    : theHost{threads == 1 ? nullptr : runOnPool, this,
              threads > 0 ? threads : numThreads()},
      outer(session), checks(checksFromEnvironment({})),
      seed(seedFromEnvironment()) {
  session = this;
}

Session::~Session() { session = outer; }

Session *Session::current() { return session; }

void Session::finish() {
  if (!error.empty())
    throw Fault(error);
}

void Session::record(int64_t block, const std::string &text) {
  std::lock_guard lock(mutex);
  if (firstFault >= 0 && firstFault < block)
    return;
  firstFault = block;
  error = text;
  stopped = !isParallel;
}

void Session::runOnPool(const tessera_host *host, tessera_kernel_fn fn,
                        void *const *buffers, int64_t tiles) {
  auto &self = *static_cast<Session *>(host->context);
  const int64_t start = profileClock();
  self.isParallel = true;
  parallelFor(tiles, int(host->threads), [&](int64_t begin, int64_t end) {
    Session *before = std::exchange(session, &self);
    fn(buffers, begin, end);
    session = before;
  });
  self.isParallel = false;
  self.stopped = !self.error.empty();
  self.endLaunch(start);
}

// The profile shows each launch, with what it did.
void Session::endLaunch(int64_t start) {
  if (isProfiling() && kernel)
    recordEvent(kernel, start, profileClock(), ofLaunch.json());
  count += ofLaunch;
  ofLaunch = {};
  kernel = nullptr;
}

void Session::run(const tessera_sim_kernel &kernel, const int64_t *launch,
                  void *const *buffers, int64_t begin, int64_t end) {
  if (stopped || begin >= end)
    return;
  const int64_t start = profileClock();
  LaunchTable table(launch, buffers);
  table.config.checks = checks;
  table.config.seed = seed;
  if (std::string fault = whyImpossible(kernel, table.config); !fault.empty())
    return record(begin, fault);
  const LaunchContext context{kernel, table.config, table.args.data(),
                              table.extents};
  FloatEnv environment;
  Block block(context);
  for (int64_t i = begin; i < end; ++i)
    if (!block.run(uint64_t(i))) {
      record(i, block.error());
      break;
    }
  {
    std::lock_guard lock(mutex);
    ofLaunch += block.counters();
    this->kernel = kernel.strings + kernel.name;
  }
  if (!isParallel)
    endLaunch(start);
}

} // namespace tessera::runtime::sim

void tessera_sim_run(const tessera_sim_kernel *kernel, const int64_t *launch,
                     void *const *buffers, int64_t begin, int64_t end) {
  auto *session = tessera::runtime::sim::Session::current();
  if (!session) {
    std::fputs("tessera: a kernel of the emulator was called outside of it\n",
               stderr);
    std::abort();
  }
  session->run(*kernel, launch, buffers, begin, end);
}
