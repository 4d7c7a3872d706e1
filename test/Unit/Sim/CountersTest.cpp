// Counters: banks, sectors, branches, operations.
#include "Harness.h"
#include "gtest/gtest.h"

using namespace tessera::test;
using tessera::runtime::sim::Counters;

namespace {

Counters countersOf(const std::string &text, uint32_t threads = 32,
                    size_t elements = 4096) {
  Compiled compiled = compile(text, Reports::Counters);
  EXPECT_TRUE(compiled.kernel) << compiled.error;
  std::vector<int32_t> in(elements), out(elements);
  LaunchConfig config = blockOf(threads);
  config.checks = {};
  auto result = Args(in, out).launch(*compiled.kernel, config);
  EXPECT_TRUE(result) << result.error;
  return result.counters;
}

/// Stores x at @tile[tid * stride].
std::string strided(int stride) {
  return elementwise("  %s = llvm.mlir.constant(" + std::to_string(stride) +
                         " : i32) : i32\n" + R"mlir(
  %base = llvm.mlir.addressof @tile : !llvm.ptr<3>
  %i = llvm.mul %tid, %s : i32
  %place = llvm.getelementptr %base[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  llvm.store %x, %place : i32, !llvm.ptr<3>
  %y = llvm.add %x, %x : i32
)mlir",
                     "llvm.mlir.global internal @tile() {addr_space = 3 : i32} "
                     ": !llvm.array<2048 x i32>\n");
}

TEST(Counters, BankConflicts) {
  // 32 banks of 4 bytes: a stride of s meets in gcd(s, 32) lanes a bank.
  for (auto [stride, conflicts] :
       {std::pair{0, 0}, {1, 0}, {2, 1}, {3, 0}, {8, 7}, {32, 31}, {33, 0}}) {
    Counters counters = countersOf(strided(stride));
    EXPECT_EQ(counters.sharedRequests, 1u);
    EXPECT_EQ(counters.sharedBytes, 128u);
    EXPECT_EQ(counters.bankConflicts, uint64_t(conflicts)) << stride;
  }
}

TEST(Counters, SectorsOfGlobalMemory) {
  auto kernel = [](int stride) {
    return elementwise("  %s = llvm.mlir.constant(" + std::to_string(stride) +
                       " : i32) : i32\n" + R"mlir(
  %i = llvm.mul %tid, %s : i32
  %p = llvm.getelementptr %in[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  %y = llvm.load %p : !llvm.ptr<1> -> i32
)mlir");
  };
  Counters dense = countersOf(kernel(1)), wide = countersOf(kernel(8));
  EXPECT_EQ(dense.globalRequests, 3u);
  EXPECT_EQ(dense.globalBytes, 3 * 128u);
  // 128 bytes in a row are 4 sectors, or 5 if they start within one.
  EXPECT_LE(dense.globalSectors, 15u);
  EXPECT_GE(dense.globalSectors, 12u);
  // Eight words apart every lane has a sector of its own.
  EXPECT_GE(wide.globalSectors, 8 + 32u);
  EXPECT_LE(wide.globalSectors, 10 + 32u);
}

TEST(Counters, BranchesThatSplit) {
  std::string text = elementwise(R"mlir(
  %c = llvm.mlir.constant(40 : i32) : i32
  %low = llvm.icmp "ult" %tid, %c : i32
  llvm.cond_br %low, ^one, ^join(%x : i32)
^one:
  %z = llvm.add %x, %x : i32
  llvm.br ^join(%z : i32)
^join(%y: i32):
)mlir");
  Counters counters = countersOf(text, 96);
  EXPECT_EQ(counters.branches, 3u);
  EXPECT_EQ(counters.divergentBranches, 1u);
}

TEST(Counters, OperationsOfAllThreads) {
  // tid, two addresses, load, add, store, return.
  Counters counters =
      countersOf(elementwise("  %y = llvm.add %x, %x : i32\n"), 64);
  EXPECT_EQ(counters.operations, 64 * 7u);
  EXPECT_EQ(counters.threads, 64u);
  EXPECT_NE(counters.describe().find("448 operations executed by all threads"),
            std::string::npos)
      << counters.describe();
}

} // namespace
