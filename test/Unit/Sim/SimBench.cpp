// Prints what the emulator's parts cost on this machine.
#include "Harness.h"
#include "runtime/sim/Context.h"
#include <chrono>
#include <cstdio>

using namespace tessera::test;
using namespace tessera::runtime::sim;

namespace {

double secondsOf(auto &&work) {
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    auto start = std::chrono::steady_clock::now();
    work();
    std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count());
  }
  return best;
}

struct Pair {
  Context here, there;
};

void bounce(void *argument) {
  auto &pair = *static_cast<Pair *>(argument);
  while (true)
    pair.there.switchTo(pair.here);
}

void timeSwitch() {
  Pair pair;
  pair.there.prepare(acquireStack(), &bounce, &pair);
  constexpr int kTimes = 1000000;
  double time = secondsOf([&] {
    for (int i = 0; i < kTimes; ++i)
      pair.here.switchTo(pair.there);
  });
  std::printf("context switch: %.2f ns\n", time / kTimes / 2 * 1e9);
}

/// A loop of `count` rounds of `body`, which makes %w of %v.
std::string loopKernel(const std::string &body) {
  return elementwise(R"mlir(
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %rounds = llvm.mlir.constant(1000 : i32) : i32
  %all = llvm.mlir.constant(-1 : i32) : i32
  %clamp = llvm.mlir.constant(31 : i32) : i32
  %base = llvm.mlir.addressof @tile : !llvm.ptr<3>
  %mine = llvm.getelementptr %base[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  llvm.store %x, %mine : i32, !llvm.ptr<3>
  llvm.br ^loop(%zero, %x : i32, i32)
^loop(%i: i32, %v: i32):
)mlir" + body + R"mlir(
  %next = llvm.add %i, %one : i32
  %more = llvm.icmp "ult" %next, %rounds : i32
  llvm.cond_br %more, ^loop(%next, %w : i32, i32), ^done
^done:
  %y = llvm.add %w, %one : i32
)mlir",
                     "llvm.mlir.global internal @tile() {addr_space = 3 : i32} "
                     ": !llvm.array<256 x i32>\n");
}

void timeLoop(const char *name, const std::string &body, Checks checks) {
  Compiled compiled =
      compile(loopKernel(body),
              checks.bounds || checks.race ? Reports::Checks : Reports::None);
  Compiled counted = compile(loopKernel(body), Reports::Counters);
  if (!compiled.kernel || !counted.kernel) {
    std::printf("%s\n", compiled.error.c_str());
    return;
  }
  std::vector<int32_t> in(256), out(256);
  LaunchConfig config = blockOf(256, 8);
  config.threads = 1;
  config.checks = checks;
  LaunchConfig plain = config;
  plain.checks = {};
  plain.grid.x = 1;
  auto counters = Args(in, out).launch(*counted.kernel, plain).counters;
  double operations = double(counters.operations) * 8;
  double time =
      secondsOf([&] { Args(in, out).launch(*compiled.kernel, config); });
  std::printf("%s: %.1f ns a round of a block of 256, %.0f million lanes x "
              "instructions a second\n",
              name, time / 8 / 1000 * 1e9, operations / time / 1e6);
}

} // namespace

int main() {
  timeSwitch();
  const Checks none, bounds{false, true, false}, all = Checks::all();
  const std::string arithmetic =
      "  %a = llvm.mul %v, %v : i32\n  %b = llvm.xor %a, %i : i32\n"
      "  %c = llvm.add %b, %v : i32\n  %w = llvm.mul %c, %b : i32\n";
  const std::string shared = "  %a = llvm.load %mine : !llvm.ptr<3> -> i32\n"
                             "  %w = llvm.add %a, %v : i32\n"
                             "  llvm.store %w, %mine : i32, !llvm.ptr<3>\n";
  const std::string barrier = "  nvvm.barrier0\n"
                              "  %w = llvm.add %v, %i : i32\n";
  const std::string shuffle =
      "  %w = nvvm.shfl.sync bfly %all, %v, %one, %clamp : i32 -> i32\n";
  timeLoop("arithmetic", arithmetic, none);
  timeLoop("shared memory", shared, none);
  timeLoop("shared memory, bounds", shared, bounds);
  timeLoop("shared memory, all checks", shared, all);
  timeLoop("barrier", barrier, none);
  timeLoop("barrier, all checks", barrier, all);
  timeLoop("shuffle", shuffle, none);
  timeLoop("shuffle, all checks", shuffle, all);
}
