// Races on shared memory: what orders two accesses, and what does not.
#include "Harness.h"
#include "runtime/sim/RaceDetector.h"
#include "gtest/gtest.h"

using namespace tessera::test;
using namespace tessera::runtime::sim;

namespace {

#define EXPECT_FOUND(result, text)                                             \
  EXPECT_NE((result).error.find(text), std::string::npos) << (result).error

/// Thread t writes @tile[t], `between` runs, thread t reads @tile[t ^ `other`].
std::string exchange(const std::string &between, int other,
                     const std::string &type = "i32") {
  std::string store = type == "i32"
                          ? "  %s = llvm.add %x, %x : i32\n"
                          : "  %s = llvm.trunc %x : i32 to " + type + "\n";
  std::string widen = type == "i32"
                          ? "  %y = llvm.add %v, %v : i32\n"
                          : "  %y = llvm.zext %v : " + type + " to i32\n";
  return elementwise(
      store + R"mlir(
  %base = llvm.mlir.addressof @tile : !llvm.ptr<3>
  %mine = llvm.getelementptr %base[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, )mlir" +
          type + "\n  llvm.store %s, %mine : " + type + ", !llvm.ptr<3>\n" +
          between + "  %o = llvm.mlir.constant(" + std::to_string(other) +
          " : i32) : i32\n" + R"mlir(
  %there = llvm.xor %tid, %o : i32
  %theirs = llvm.getelementptr %base[%there] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, )mlir" +
          type + "\n  %v = llvm.load %theirs : !llvm.ptr<3> -> " + type + "\n" +
          widen,
      "llvm.mlir.global internal @tile() {addr_space = 3 : i32} "
      ": !llvm.array<64 x i32>\n");
}

LaunchResult exchangeRun(const std::string &between, int other,
                         uint64_t seed = 0, const std::string &type = "i32") {
  std::vector<int32_t> in(64), out(64);
  LaunchConfig config = blockOf(64);
  config.checks.init = false;
  config.seed = seed;
  return run(exchange(between, other, type), config, in, out);
}

const std::string kSync = "  %all = llvm.mlir.constant(-1 : i32) : i32\n"
                          "  nvvm.bar.warp.sync %all : i32\n";

TEST(Race, AMissingBarrier) {
  for (uint64_t seed : {0, 1, 2, 3}) {
    auto result = exchangeRun("", 32, seed);
    EXPECT_FOUND(result, "race on shared memory");
    EXPECT_FOUND(result, "and nothing orders the two");
    EXPECT_TRUE(exchangeRun("  nvvm.barrier0\n", 32, seed));
  }
}

TEST(Race, NamesBothLines) {
  // Thread 0 is through before thread 32 starts.
  auto result = exchangeRun("", 32);
  EXPECT_FOUND(result, "k.mlir:12: [llvm.store] race on shared memory: writes "
                       "byte 128 of @tile (256 bytes), which thread (0,0,0) "
                       "reads at k.mlir:17");
}

TEST(Race, AWarpSyncOrdersItsWarpOnly) {
  EXPECT_TRUE(exchangeRun(kSync, 5));
  EXPECT_TRUE(exchangeRun(kSync, 31));
  EXPECT_FOUND(exchangeRun(kSync, 32), "race on shared memory");
}

TEST(Race, AShuffleOrdersNothing) {
  // PTX ISA: only barriers and bar.warp.sync guarantee the order of memory.
  EXPECT_FOUND(exchangeRun("  %all = llvm.mlir.constant(-1 : i32) : i32\n"
                           "  %c = llvm.mlir.constant(31 : i32) : i32\n"
                           "  %z = nvvm.shfl.sync idx %all, %x, %tid, %c : i32 "
                           "-> i32\n",
                           1),
               "race on shared memory");
}

TEST(Race, NeighboursInAWordDoNotRace) {
  for (const char *type : {"i8", "i16"}) {
    EXPECT_TRUE(exchangeRun("", 0, 0, type)) << type;
    EXPECT_FOUND(exchangeRun("", 1, 0, type), "race on shared memory");
  }
}

/// Two rounds through one buffer: without a barrier between them the second
/// write races with the reads of the first.
TEST(Race, AMissingBarrierBeforeReuse) {
  std::string round = R"mlir(
  nvvm.barrier0
  %o1 = llvm.mlir.constant(33 : i32) : i32
  %there1 = llvm.xor %tid, %o1 : i32
  %theirs1 = llvm.getelementptr %base[%there1] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %v1 = llvm.load %theirs1 : !llvm.ptr<3> -> i32
)mlir";
  std::string again = "  llvm.store %v1, %mine : i32, !llvm.ptr<3>\n"
                      "  nvvm.barrier0\n";
  EXPECT_TRUE(exchangeRun(round + "  nvvm.barrier0\n" + again, 32));
  for (uint64_t seed : {0, 1, 2})
    EXPECT_FOUND(exchangeRun(round + again, 32, seed), "race on shared memory");
}

/// A copy that is waited for by its own thread only is not there for others.
TEST(Race, AWaitWithoutABarrier) {
  auto kernel = [](const std::string &barrier) {
    return elementwise(R"mlir(
  %base = llvm.mlir.addressof @tile : !llvm.ptr<3>
  %mine = llvm.getelementptr %base[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  nvvm.cp.async.shared.global %mine, %pin, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.commit.group
  nvvm.cp.async.wait.group 0
)mlir" + barrier + R"mlir(
  %one = llvm.mlir.constant(1 : i32) : i32
  %there = llvm.xor %tid, %one : i32
  %theirs = llvm.getelementptr %base[%there] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %y = llvm.load %theirs : !llvm.ptr<3> -> i32
)mlir",
                       "llvm.mlir.global internal @tile() {addr_space = 3 : "
                       "i32} : !llvm.array<64 x i32>\n");
  };
  std::vector<int32_t> in(64), out(64);
  LaunchConfig config = blockOf(64);
  config.checks.init = false;
  EXPECT_TRUE(run(kernel("  nvvm.barrier0\n"), config, in, out));
  EXPECT_FOUND(run(kernel(""), config, in, out), "race on shared memory");
  // The barrier before the wait does not help: the copy lands after it.
  std::string swapped = kernel("");
  swapped.insert(swapped.find("  nvvm.cp.async.wait"), "  nvvm.barrier0\n");
  EXPECT_FOUND(run(swapped, config, in, out), "race on shared memory");
}

/// Thread 0 writes and sets a flag; thread 32 sees the flag and reads.
std::string flagKernel(const std::string &set, const std::string &look) {
  return R"mlir(
llvm.mlir.global internal @data() {addr_space = 3 : i32} : i32
llvm.mlir.global internal @flag() {addr_space = 3 : i32} : i32
llvm.func @k(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %second = llvm.mlir.constant(32 : i32) : i32
  %data = llvm.mlir.addressof @data : !llvm.ptr<3>
  %flag = llvm.mlir.addressof @flag : !llvm.ptr<3>
  %is0 = llvm.icmp "eq" %tid, %zero : i32
  %is32 = llvm.icmp "eq" %tid, %second : i32
  llvm.cond_br %is0, ^clear, ^start
^clear:
  llvm.store %zero, %flag : i32, !llvm.ptr<3>
  llvm.br ^start
^start:
  nvvm.barrier0
  llvm.cond_br %is0, ^write, ^other
^write:
  llvm.store %second, %data : i32, !llvm.ptr<3>
)mlir" + set +
         R"mlir(
  llvm.return
^other:
  llvm.cond_br %is32, ^look, ^end
^look:
)mlir" + look +
         R"mlir(
  %seen = llvm.icmp "eq" %f, %one : i32
  llvm.cond_br %seen, ^read, ^look
^read:
  %v = llvm.load %data : !llvm.ptr<3> -> i32
  llvm.store %v, %out : i32, !llvm.ptr<1>
  llvm.return
^end:
  llvm.return
}
)mlir";
}

TEST(Race, FlagsOrderOnlyWithReleaseAndAcquire) {
  const std::string release =
      "  llvm.store %one, %flag atomic release {alignment = 4 : i64} : i32, "
      "!llvm.ptr<3>\n";
  const std::string relaxed =
      "  llvm.store %one, %flag atomic monotonic {alignment = 4 : i64} : i32, "
      "!llvm.ptr<3>\n";
  const std::string acquire =
      "  %f = llvm.load %flag atomic acquire {alignment = 4 : i64} : "
      "!llvm.ptr<3> -> i32\n";
  const std::string look =
      "  %f = llvm.load %flag atomic monotonic {alignment = 4 : i64} : "
      "!llvm.ptr<3> -> i32\n";
  const std::string fence = "  nvvm.memory.barrier #nvvm.mem_scope<cta>\n";
  for (uint64_t seed : {0, 1, 2}) {
    std::vector<int32_t> out(1);
    LaunchConfig config = blockOf(64);
    config.seed = seed;
    auto launched = [&](const std::string &set, const std::string &see) {
      out[0] = 0;
      return run(flagKernel(set, see), config, out);
    };
    auto result = launched(release, acquire);
    EXPECT_TRUE(result) << result.error;
    EXPECT_EQ(out[0], 32);
    result = launched(fence + relaxed, look + fence);
    EXPECT_TRUE(result) << result.error;
    EXPECT_EQ(out[0], 32);
    EXPECT_FOUND(launched(relaxed, acquire), "race on shared memory");
    EXPECT_FOUND(launched(release, look), "race on shared memory");
  }
}

TEST(Race, ManyReadersAreRemembered) {
  Clocks clocks;
  RaceDetector races;
  clocks.reset(8);
  races.reset(64, 4);
  auto access = [&](uint32_t thread, bool writes) {
    return races.access(clocks, thread, thread, 8, 4, writes, false);
  };
  for (uint32_t reader = 0; reader < 7; ++reader)
    EXPECT_FALSE(access(reader, false));
  // Thread 7 meets the last six; the read of thread 0 is still in the way.
  Meeting meeting;
  for (uint32_t thread = 1; thread < 8; ++thread)
    clocks.release(thread, meeting);
  clocks.acquire(7, meeting);
  auto conflict = access(7, true);
  ASSERT_TRUE(conflict);
  EXPECT_EQ(conflict->thread, 0u);
  EXPECT_FALSE(conflict->wrote);
}

} // namespace
