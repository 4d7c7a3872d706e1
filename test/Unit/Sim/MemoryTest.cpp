// Memory: dynamic shared memory, atomics, constants, asynchronous copies.
#include "Harness.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <numeric>

using namespace tessera::test;

namespace {

const char *kDynamic = "llvm.mlir.global external @dynamic() {addr_space = 3 : "
                       "i32, alignment = 16 : i64} : !llvm.array<0 x i8>\n";

std::vector<int32_t> counting(int32_t count) {
  std::vector<int32_t> values(count);
  std::iota(values.begin(), values.end(), 1000);
  return values;
}

TEST(Memory, DynamicSharedMemoryBehindAStaticArray) {
  std::string globals = std::string(kDynamic) +
                        "llvm.mlir.global internal @first() {addr_space = 3 : "
                        "i32} : !llvm.array<3 x i8>\n";
  std::string text = elementwise(R"mlir(
  %first = llvm.mlir.addressof @first : !llvm.ptr<3>
  %byte = llvm.mlir.constant(1 : i8) : i8
  %two = llvm.mlir.constant(2 : i32) : i32
  %third = llvm.getelementptr %first[%two] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  %zero = llvm.mlir.constant(0 : i32) : i32
  %is0 = llvm.icmp "eq" %tid, %zero : i32
  llvm.cond_br %is0, ^store, ^go
^store:
  llvm.store %byte, %third : i8, !llvm.ptr<3>
  llvm.br ^go
^go:
  %base = llvm.mlir.addressof @dynamic : !llvm.ptr<3>
  %mine = llvm.getelementptr %base[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  llvm.store %x, %mine : i32, !llvm.ptr<3>
  nvvm.barrier0
  %one = llvm.mlir.constant(1 : i32) : i32
  %there = llvm.xor %tid, %one : i32
  %theirs = llvm.getelementptr %base[%there] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %y = llvm.load %theirs : !llvm.ptr<3> -> i32
)mlir",
                                 globals);
  auto in = counting(128), out = counting(128);
  LaunchConfig config = blockOf(128);
  config.dynamicSharedBytes = 512;
  auto result = run(text, config, in, out);
  ASSERT_TRUE(result) << result.error;
  for (int i = 0; i < 128; ++i)
    EXPECT_EQ(out[i], in[i ^ 1]);
  config.dynamicSharedBytes = 508;
  result = run(text, config, in, out);
  EXPECT_NE(result.error.find(
                "writes 4 bytes at byte 508 of dynamic shared memory (508 "),
            std::string::npos)
      << result.error;
}

/// Every thread of every block adds to a counter in global memory and to one in
/// shared memory; thread 0 adds the latter to another.
TEST(Memory, AtomicsAcrossThreadsAndBlocks) {
  std::string text = R"mlir(
llvm.mlir.global internal @sum() {addr_space = 3 : i32} : i32
llvm.func @k(%total: !llvm.ptr<1>, %float: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %half = llvm.mlir.constant(0.5 : f32) : f32
  %sum = llvm.mlir.addressof @sum : !llvm.ptr<3>
  %is0 = llvm.icmp "eq" %tid, %zero : i32
  llvm.cond_br %is0, ^clear, ^go
^clear:
  llvm.store %zero, %sum : i32, !llvm.ptr<3>
  llvm.br ^go
^go:
  nvvm.barrier0
  %old = llvm.atomicrmw add %sum, %one syncscope("block") monotonic : !llvm.ptr<3>, i32
  %f = llvm.atomicrmw fadd %float, %half monotonic : !llvm.ptr<1>, f32
  nvvm.barrier0
  llvm.cond_br %is0, ^publish, ^end
^publish:
  %v = llvm.load %sum : !llvm.ptr<3> -> i32
  %t = llvm.atomicrmw add %total, %v monotonic : !llvm.ptr<1>, i32
  llvm.br ^end
^end:
  llvm.return
}
)mlir";
  std::vector<int32_t> total(1);
  std::vector<float> sum(1);
  LaunchConfig config = blockOf(96, 50);
  config.threads = 3;
  auto result = run(text, config, total, sum);
  ASSERT_TRUE(result) << result.error;
  EXPECT_EQ(total[0], 96 * 50);
  EXPECT_EQ(sum[0], 96 * 50 * 0.5f);
}

/// A lock by compare-and-swap: lanes take turns, each adds to a plain number.
TEST(Memory, SpinningOnAnAtomicLetsTheOthersRun) {
  std::string text = R"mlir(
llvm.mlir.global internal @lock() {addr_space = 3 : i32} : i32
llvm.mlir.global internal @count() {addr_space = 3 : i32} : i32
llvm.func @k(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %lock = llvm.mlir.addressof @lock : !llvm.ptr<3>
  %count = llvm.mlir.addressof @count : !llvm.ptr<3>
  %is0 = llvm.icmp "eq" %tid, %zero : i32
  llvm.cond_br %is0, ^clear, ^start
^clear:
  llvm.store %zero, %lock : i32, !llvm.ptr<3>
  llvm.store %zero, %count : i32, !llvm.ptr<3>
  llvm.br ^start
^start:
  nvvm.barrier0
  llvm.br ^try
^try:
  %r = llvm.cmpxchg %lock, %zero, %one acq_rel monotonic : !llvm.ptr<3>, i32
  %got = llvm.extractvalue %r[1] : !llvm.struct<(i32, i1)>
  llvm.cond_br %got, ^mine, ^try
^mine:
  %v = llvm.load %count : !llvm.ptr<3> -> i32
  %w = llvm.add %v, %one : i32
  llvm.store %w, %count : i32, !llvm.ptr<3>
  llvm.store %w, %out : i32, !llvm.ptr<1>
  %u = llvm.atomicrmw xchg %lock, %zero acq_rel : !llvm.ptr<3>, i32
  llvm.return
}
)mlir";
  for (uint64_t seed : {0, 1, 2}) {
    std::vector<int32_t> out(1);
    LaunchConfig config = blockOf(64);
    config.seed = seed;
    auto result = run(text, config, out);
    ASSERT_TRUE(result) << result.error;
    EXPECT_EQ(out[0], 64);
  }
}

TEST(Memory, ConstantsAndDeviceFunctions) {
  std::string text = elementwise(
      R"mlir(
  %table = llvm.mlir.addressof @table : !llvm.ptr<4>
  %three = llvm.mlir.constant(3 : i32) : i32
  %i = llvm.and %tid, %three : i32
  %place = llvm.getelementptr %table[%i] : (!llvm.ptr<4>, i32) -> !llvm.ptr<4>, i32
  %v = llvm.load %place : !llvm.ptr<4> -> i32
  %y = llvm.call @scale(%v) : (i32) -> i32
)mlir",
      R"mlir(
llvm.mlir.global internal constant @table(dense<[3, 1, 4, 1]> : tensor<4xi32>)
  {addr_space = 4 : i32} : !llvm.array<4 x i32>
llvm.func @scale(%v: i32) -> i32 {
  %n = nvvm.read.ptx.sreg.ntid.x : i32
  %r = llvm.mul %v, %n : i32
  llvm.return %r : i32
}
)mlir");
  auto in = counting(32), out = counting(32);
  auto result = run(text, blockOf(32), in, out);
  ASSERT_TRUE(result) << result.error;
  const int table[] = {3, 1, 4, 1};
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], table[i % 4] * 32);
}

/// Two stages: y = what came by the second copy. `wait` is the number of groups
/// that may be pending before the last read.
std::string stagesKernel(const std::string &wait) {
  return elementwise(R"mlir(
  %base = llvm.mlir.addressof @tile : !llvm.ptr<3>
  %half = llvm.mlir.constant(32 : i32) : i32
  %a = llvm.getelementptr %base[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %other = llvm.add %tid, %half : i32
  %b = llvm.getelementptr %base[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %far = llvm.getelementptr %in[%other] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  nvvm.cp.async.shared.global %a, %pin, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.commit.group
  nvvm.cp.async.shared.global %b, %far, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.commit.group
  nvvm.cp.async.wait.group 1
  %first = llvm.load %a : !llvm.ptr<3> -> i32
  nvvm.cp.async.wait.group )mlir" +
                         wait + R"mlir(
  %second = llvm.load %b : !llvm.ptr<3> -> i32
  %y = llvm.add %first, %second : i32
)mlir",
                     "llvm.mlir.global internal @tile() {addr_space = 3 : i32} "
                     ": !llvm.array<64 x i32>\n");
}

TEST(AsyncCopy, GroupsLandInOrderWhenWaitedFor) {
  auto in = counting(64), out = counting(32);
  auto result = run(stagesKernel("0"), blockOf(32), in, out);
  ASSERT_TRUE(result) << result.error;
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], in[i] + in[i + 32]);
}

TEST(AsyncCopy, AMissingWaitIsSeen) {
  auto in = counting(64), out = counting(32);
  auto result = run(stagesKernel("1"), blockOf(32), in, out);
  EXPECT_NE(result.error.find("byte 128 of @tile (256 bytes), where a cp.async "
                              "has not landed"),
            std::string::npos)
      << result.error;
  // Without the check the old contents are there: poison.
  LaunchConfig config = blockOf(32);
  config.checks = {};
  ASSERT_TRUE(run(stagesKernel("1"), config, in, out));
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], in[i] - 1);
}

TEST(AsyncCopy, FewerBytesAreFilledUpWithZeros) {
  std::string text =
      elementwise(R"mlir(
  %base = llvm.mlir.addressof @tile : !llvm.ptr<3>
  %four = llvm.mlir.constant(4 : i32) : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  %place = llvm.mul %tid, %four : i32
  %to = llvm.getelementptr %base[%place] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %from = llvm.getelementptr %in[%place] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  nvvm.cp.async.shared.global %to, %from, 16, cache = cg, %four : !llvm.ptr<3>, !llvm.ptr<1>, i32
  nvvm.cp.async.commit.group
  nvvm.cp.async.wait.group 0
  nvvm.barrier0
  %mine = llvm.getelementptr %base[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %y = llvm.load %mine : !llvm.ptr<3> -> i32
)mlir",
                  "llvm.mlir.global internal @tile() {addr_space "
                  "= 3 : i32, alignment = 16 : i64} : "
                  "!llvm.array<128 x i32>\n");
  // The buffer starts at a multiple of 16 bytes, as the copies need.
  std::vector<int32_t> in = counting(128), out(32);
  auto result = run(text, blockOf(32), in, out);
  ASSERT_TRUE(result) << result.error;
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], i % 4 ? 0 : in[i]) << i;
}

TEST(Memory, NarrowFloatsRoundToNearestEven) {
  std::string text = elementwise(R"mlir(
  %f = llvm.bitcast %x : i32 to f32
  %h = llvm.fptrunc %f : f32 to f16
  %b = llvm.fptrunc %f : f32 to bf16
  %hi = llvm.bitcast %h : f16 to i16
  %bi = llvm.bitcast %b : bf16 to i16
  %hw = llvm.zext %hi : i16 to i32
  %bw = llvm.zext %bi : i16 to i32
  %sixteen = llvm.mlir.constant(16 : i32) : i32
  %up = llvm.shl %bw, %sixteen : i32
  %y = llvm.or %up, %hw : i32
)mlir");
  struct {
    uint32_t in, f16, bf16;
  } cases[] = {{0x3f800000, 0x3c00, 0x3f80}, // 1
               {0x3f801000, 0x3c00, 0x3f80}, // a tie of f16, to even
               {0x3f803000, 0x3c02, 0x3f80}, // a tie of f16, up to even
               {0x3f808000, 0x3c04, 0x3f80}, // a tie of bf16, to even
               {0x3f818000, 0x3c0c, 0x3f82}, // a tie of bf16, up to even
               {0x477fe000, 0x7bff, 0x4780}, // 65504, the largest f16
               {0x477ff000, 0x7c00, 0x4780}, // 65520 becomes infinite
               {0x7f800000, 0x7c00, 0x7f80}, // infinity
               {0xff800000, 0xfc00, 0xff80},
               {0x7fc12345, 0x7fff, 0x7fff}, // NaN
               {0x33800000, 0x0001, 0x3380}, // 2^-24, the least f16
               {0x33000000, 0x0000, 0x3300}, // half of that: a tie, to zero
               {0x33000001, 0x0001, 0x3300},
               {0x387fc000, 0x03ff, 0x3880}, // the largest denormal f16
               {0x80000000, 0x8000, 0x8000}, // -0
               {0x00000001, 0x0000, 0x0000}};
  std::vector<int32_t> in, out(std::size(cases));
  for (auto [bits, f16, bf16] : cases)
    in.push_back(int32_t(bits));
  auto result = run(text, blockOf(uint32_t(in.size())), in, out);
  ASSERT_TRUE(result) << result.error;
  for (size_t i = 0; i < in.size(); ++i)
    EXPECT_EQ(uint32_t(out[i]), cases[i].bf16 << 16 | cases[i].f16)
        << std::hex << cases[i].in;
}

} // namespace
