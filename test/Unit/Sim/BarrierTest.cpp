// Barriers of a block: all threads, named ones with counts, arrivals,
// reductions, and divergence between them.
#include "Harness.h"
#include "gtest/gtest.h"
#include <numeric>

using namespace tessera::test;

namespace {

const char *kTile = "llvm.mlir.global internal @tile() {addr_space = 3 : i32} "
                    ": !llvm.array<1024 x i32>\n";

/// y = x of the thread on the other side of the block, by way of @tile.
std::string reverseKernel(const std::string &barrier) {
  return elementwise(R"mlir(
  %base = llvm.mlir.addressof @tile : !llvm.ptr<3>
  %mine = llvm.getelementptr %base[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  llvm.store %x, %mine : i32, !llvm.ptr<3>
)mlir" + barrier + R"mlir(
  %n = nvvm.read.ptx.sreg.ntid.x : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %last = llvm.sub %n, %one : i32
  %there = llvm.sub %last, %tid : i32
  %theirs = llvm.getelementptr %base[%there] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %y = llvm.load %theirs : !llvm.ptr<3> -> i32
)mlir",
                     kTile);
}

TEST(Barrier, AllThreadsOfBlocksOfEverySize) {
  for (uint32_t threads : {1u, 31u, 32u, 33u, 100u, 256u, 1024u})
    for (const char *barrier : {"nvvm.barrier0", "nvvm.barrier"})
      for (uint64_t seed : {0, 1, 2}) {
        std::vector<int32_t> in(threads), out(threads);
        std::iota(in.begin(), in.end(), 5);
        LaunchConfig config = blockOf(threads);
        config.seed = seed;
        auto result = run(reverseKernel(barrier), config, in, out);
        ASSERT_TRUE(result) << result.error;
        for (uint32_t i = 0; i < threads; ++i)
          ASSERT_EQ(out[i], in[threads - 1 - i]) << threads;
      }
}

TEST(Barrier, Reductions) {
  for (auto [kind, one, all, none] :
       {std::tuple{"popc", 1, 64, 0}, {"and", 0, 1, 0}, {"or", 1, 1, 0}}) {
    std::string text = elementwise(std::string("  %y = nvvm.barrier ") +
                                   "#nvvm.reduction<" + kind + "> %x -> i32\n");
    std::vector<int32_t> in(64), out(64);
    ASSERT_TRUE(run(text, blockOf(64), in, out));
    EXPECT_EQ(out, std::vector<int32_t>(64, none)) << kind;
    in[40] = 3;
    ASSERT_TRUE(run(text, blockOf(64), in, out));
    EXPECT_EQ(out, std::vector<int32_t>(64, one)) << kind;
    in.assign(64, 1);
    ASSERT_TRUE(run(text, blockOf(64), in, out));
    EXPECT_EQ(out, std::vector<int32_t>(64, all)) << kind;
  }
}

/// Warps 0 and 1 exchange by barrier 1, warps 2 and 3 by barrier 2: neither
/// pair waits for the other.
TEST(Barrier, NamedOnesOfHalfABlock) {
  std::string text = elementwise(R"mlir(
  %base = llvm.mlir.addressof @tile : !llvm.ptr<3>
  %mine = llvm.getelementptr %base[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  llvm.store %x, %mine : i32, !llvm.ptr<3>
  %id1 = llvm.mlir.constant(1 : i32) : i32
  %id2 = llvm.mlir.constant(2 : i32) : i32
  %half = llvm.mlir.constant(64 : i32) : i32
  %low = llvm.icmp "ult" %tid, %half : i32
  llvm.cond_br %low, ^first, ^second
^first:
  nvvm.barrier id = %id1 number_of_threads = %half
  llvm.br ^join
^second:
  nvvm.barrier id = %id2 number_of_threads = %half
  llvm.br ^join
^join:
  %m = llvm.mlir.constant(63 : i32) : i32
  %there = llvm.xor %tid, %m : i32
  %theirs = llvm.getelementptr %base[%there] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %y = llvm.load %theirs : !llvm.ptr<3> -> i32
)mlir",
                                 kTile);
  for (uint64_t seed : {0, 1, 2, 3}) {
    std::vector<int32_t> in(128), out(128);
    std::iota(in.begin(), in.end(), 0);
    LaunchConfig config = blockOf(128);
    config.seed = seed;
    auto result = run(text, config, in, out);
    ASSERT_TRUE(result) << result.error;
    for (int i = 0; i < 128; ++i)
      EXPECT_EQ(out[i], i ^ 63);
  }
}

/// Warp 0 produces and goes on at once; warp 1 waits for it.
TEST(Barrier, ArriveDoesNotWait) {
  std::string text = elementwise(R"mlir(
  %base = llvm.mlir.addressof @tile : !llvm.ptr<3>
  %id = llvm.mlir.constant(3 : i32) : i32
  %all = llvm.mlir.constant(64 : i32) : i32
  %warp = llvm.mlir.constant(32 : i32) : i32
  %produces = llvm.icmp "ult" %tid, %warp : i32
  llvm.cond_br %produces, ^produce, ^consume
^produce:
  %mine = llvm.getelementptr %base[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  llvm.store %x, %mine : i32, !llvm.ptr<3>
  nvvm.barrier.arrive id = %id number_of_threads = %all
  llvm.br ^join(%x : i32)
^consume:
  nvvm.barrier id = %id number_of_threads = %all
  %there = llvm.sub %tid, %warp : i32
  %theirs = llvm.getelementptr %base[%there] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %v = llvm.load %theirs : !llvm.ptr<3> -> i32
  llvm.br ^join(%v : i32)
^join(%y: i32):
)mlir",
                                 kTile);
  for (uint64_t seed : {0, 1, 2, 3}) {
    std::vector<int32_t> in(64), out(64);
    std::iota(in.begin(), in.end(), 0);
    LaunchConfig config = blockOf(64);
    config.seed = seed;
    auto result = run(text, config, in, out);
    ASSERT_TRUE(result) << result.error;
    for (int i = 0; i < 64; ++i)
      EXPECT_EQ(out[i], i % 32);
  }
}

/// Lanes part three times, in an order that the bits of their index say, and
/// meet again at a shuffle of each half and a barrier of all.
TEST(Barrier, NestedDivergenceMeetsAgain) {
  std::string text = elementwise(R"mlir(
  %one = llvm.mlir.constant(1 : i32) : i32
  %two = llvm.mlir.constant(2 : i32) : i32
  %clamp = llvm.mlir.constant(31 : i32) : i32
  %even_mask = llvm.mlir.constant(0x55555555 : i32) : i32
  %fourth_mask = llvm.mlir.constant(0x22222222 : i32) : i32
  %bit0 = llvm.trunc %tid : i32 to i1
  llvm.cond_br %bit0, ^odd, ^even
^even:
  %e = nvvm.shfl.sync bfly %even_mask, %x, %two, %clamp : i32 -> i32
  llvm.br ^join(%e : i32)
^odd:
  %shifted = llvm.lshr %tid, %one : i32
  %bit1 = llvm.trunc %shifted : i32 to i1
  llvm.cond_br %bit1, ^three, ^single
^single:
  %four = llvm.mlir.constant(4 : i32) : i32
  %s = nvvm.shfl.sync bfly %fourth_mask, %x, %four, %clamp : i32 -> i32
  llvm.br ^join(%s : i32)
^three:
  llvm.br ^join(%x : i32)
^join(%y: i32):
  nvvm.barrier0
)mlir");
  for (uint64_t seed : {0, 7}) {
    std::vector<int32_t> in(96), out(96);
    std::iota(in.begin(), in.end(), 0);
    LaunchConfig config = blockOf(96);
    config.seed = seed;
    auto result = run(text, config, in, out);
    ASSERT_TRUE(result) << result.error;
    for (int i = 0; i < 96; ++i)
      EXPECT_EQ(out[i], i % 2 == 0 ? i ^ 2 : i % 4 == 1 ? i ^ 4 : i);
  }
}

} // namespace
