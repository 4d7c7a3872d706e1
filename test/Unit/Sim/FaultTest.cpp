// Planted faults: each must be found, and named with its lines.
#include "Harness.h"
#include "gtest/gtest.h"

using namespace tessera::test;

namespace {

#define EXPECT_FOUND(result, text)                                             \
  EXPECT_NE((result).error.find(text), std::string::npos) << (result).error

TEST(Fault, GlobalOutOfBoundsSaysWhoAndWhere) {
  std::string text = R"mlir(
llvm.func @k(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %p = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  llvm.store %tid, %p : i32, !llvm.ptr<1>
  llvm.return
}
)mlir";
  std::vector<int32_t> out(40);
  auto result = run(text, blockOf(64), out);
  EXPECT_FOUND(result,
               "k.mlir:5: [llvm.store] out of bounds: writes 4 bytes at "
               "byte 160 of a buffer of 160 bytes");
  EXPECT_FOUND(result, "kernel k, block (0,0,0), thread (40,0,0) (lane 8 of "
                       "warp 1)");
}

TEST(Fault, BeforeABuffer) {
  std::string text = elementwise(R"mlir(
  %minus = llvm.mlir.constant(-1 : i32) : i32
  %before = llvm.getelementptr %in[%minus] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  %y = llvm.load %before : !llvm.ptr<1> -> i32
)mlir");
  std::vector<int32_t> in(4), out(4);
  EXPECT_FOUND(run(text, blockOf(4), in, out), "out of bounds: reads 4 bytes");
}

TEST(Fault, WritesToAnInput) {
  std::string text = elementwise(R"mlir(
  llvm.store %x, %pin : i32, !llvm.ptr<1>
  %y = llvm.add %x, %x : i32
)mlir");
  const std::vector<int32_t> values = {1, 2};
  Compiled compiled = compile(text);
  ASSERT_TRUE(compiled.kernel) << compiled.error;
  std::vector<int32_t> out(2);
  const void *in = values.data();
  void *destination = out.data();
  void *args[] = {&in, &destination};
  tessera::runtime::sim::Extent extents[] = {{values.data(), 8, false},
                                             {out.data(), 8, true}};
  auto result = tessera::runtime::sim::launch(*compiled.kernel, blockOf(2),
                                              args, extents);
  EXPECT_FOUND(result, "which is read-only");
}

/// Stores x at @tile[tid + 1]; the array has 32 elements and is followed by
/// another one.
TEST(Fault, PastASharedArrayIntoTheNext) {
  std::string text = elementwise(R"mlir(
  %base = llvm.mlir.addressof @tile : !llvm.ptr<3>
  %one = llvm.mlir.constant(1 : i32) : i32
  %i = llvm.add %tid, %one : i32
  %place = llvm.getelementptr %base[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  llvm.store %x, %place : i32, !llvm.ptr<3>
  %next = llvm.mlir.addressof @next : !llvm.ptr<3>
  llvm.store %x, %next : i32, !llvm.ptr<3>
  %y = llvm.add %x, %x : i32
)mlir",
                                 R"mlir(
llvm.mlir.global internal @tile() {addr_space = 3 : i32} : !llvm.array<32 x i32>
llvm.mlir.global internal @next() {addr_space = 3 : i32} : i32
)mlir");
  std::vector<int32_t> in(32), out(32);
  LaunchConfig config = blockOf(32);
  config.checks.race = false;
  EXPECT_FOUND(run(text, config, in, out),
               "[llvm.store] out of bounds: writes 4 bytes at byte 128 of "
               "@tile (128 bytes)");
}

TEST(Fault, MisalignedVector) {
  std::string text = R"mlir(
llvm.func @k(%in: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %one = llvm.mlir.constant(1 : i32) : i32
  %p = llvm.getelementptr %in[%one] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %v = llvm.load %p : !llvm.ptr<1> -> vector<4xf32>
  llvm.store %v, %p {alignment = 4 : i64} : vector<4xf32>, !llvm.ptr<1>
  llvm.return
}
)mlir";
  std::vector<float> in(8);
  EXPECT_FOUND(run(text, blockOf(1), in),
               "k.mlir:5: [llvm.load] misaligned access");
}

TEST(Fault, UninitialisedSharedMemory) {
  std::string text =
      elementwise(R"mlir(
  %base = llvm.mlir.addressof @tile : !llvm.ptr<3>
  %place = llvm.getelementptr %base[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %y = llvm.load %place : !llvm.ptr<3> -> i32
)mlir",
                  "llvm.mlir.global internal @tile() {addr_space "
                  "= 3 : i32} : !llvm.array<32 x i32>");
  std::vector<int32_t> in(32), out(32);
  EXPECT_FOUND(run(text, blockOf(32), in, out),
               "[llvm.load] reads byte 0 of @tile (128 bytes), which nobody "
               "has written");
}

/// Poison comes back with every block: what one wrote, the next cannot read.
TEST(Fault, SharedMemoryIsPoisonedBeforeEachBlock) {
  std::string text = R"mlir(
llvm.mlir.global internal @tile() {addr_space = 3 : i32} : i32
llvm.func @k(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
  %is0 = llvm.icmp "eq" %block, %zero : i32
  llvm.cond_br %is0, ^write, ^read
^write:
  llvm.store %zero, %tile : i32, !llvm.ptr<3>
  llvm.return
^read:
  %v = llvm.load %tile : !llvm.ptr<3> -> i32
  llvm.store %v, %out : i32, !llvm.ptr<1>
  llvm.return
}
)mlir";
  std::vector<int32_t> out(1);
  LaunchConfig config = blockOf(1, 2);
  config.threads = 1;
  auto result = run(text, config, out);
  EXPECT_FOUND(result, "k.mlir:13: [llvm.load] reads byte 0 of @tile");
  EXPECT_FOUND(result, "block (1,0,0)");
  config.checks.init = false;
  ASSERT_TRUE(run(text, config, out));
  EXPECT_EQ(out[0], -1);
}

/// Half a warp comes to the barrier, the other half waits in a shuffle for it.
TEST(Fault, DeadlockAtADivergentBarrierNamesBothLines) {
  std::string text = R"mlir(
llvm.func @k() attributes {nvvm.kernel} {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %mask = llvm.mlir.constant(-1 : i32) : i32
  %sixteen = llvm.mlir.constant(16 : i32) : i32
  %clamp = llvm.mlir.constant(31 : i32) : i32
  %low = llvm.icmp "ult" %tid, %sixteen : i32
  llvm.cond_br %low, ^barrier, ^shuffle
^barrier:
  nvvm.barrier0
  llvm.return
^shuffle:
  %s = nvvm.shfl.sync bfly %mask, %tid, %sixteen, %clamp : i32 -> i32
  llvm.return
}
)mlir";
  for (uint64_t seed : {0, 1, 2}) {
    LaunchConfig config = blockOf(32, 3);
    config.seed = seed;
    auto result = run(text, config);
    EXPECT_FOUND(result, "k.mlir:10: [nvvm.barrier0] deadlock");
    EXPECT_FOUND(result, "threads 0-15 wait at k.mlir:10: [nvvm.barrier0] "
                         "barrier 0, where 16 of 32 threads have arrived");
    EXPECT_FOUND(result, "threads 16-31 wait at k.mlir:13: [nvvm.shfl.sync] "
                         "lanes 0-15 of warp 0 to take part");
    EXPECT_FOUND(result, "block (0,0,0)");
  }
}

/// if (tid < 16) barrier; else barrier: two instructions, one barrier.
TEST(Fault, TwoBarriersForOneWarp) {
  std::string text = R"mlir(
llvm.func @k() attributes {nvvm.kernel} {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %sixteen = llvm.mlir.constant(16 : i32) : i32
  %low = llvm.icmp "ult" %tid, %sixteen : i32
  llvm.cond_br %low, ^first, ^second
^first:
  nvvm.barrier0
  llvm.return
^second:
  nvvm.barrier0
  llvm.return
}
)mlir";
  auto result = run(text, blockOf(32));
  EXPECT_FOUND(result, "k.mlir:8: [nvvm.barrier0] divergent barrier");
  EXPECT_FOUND(result, "lane 16 of warp 0 is at k.mlir:11");
}

TEST(Fault, ALaneThatReturnsBeforeABarrier) {
  std::string text = R"mlir(
llvm.func @k() attributes {nvvm.kernel} {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %n = llvm.mlir.constant(40 : i32) : i32
  %in_range = llvm.icmp "ult" %tid, %n : i32
  llvm.cond_br %in_range, ^go, ^end
^go:
  nvvm.barrier0
  llvm.br ^end
^end:
  llvm.return
}
)mlir";
  auto result = run(text, blockOf(64));
  EXPECT_FOUND(result, "divergent barrier");
  EXPECT_FOUND(result, "lane 8 of warp 1 has exited");
}

TEST(Fault, BadBarrierArguments) {
  auto kernel = [](int id, int threads) {
    return "llvm.func @k() attributes {nvvm.kernel} {\n"
           "  %id = llvm.mlir.constant(" +
           std::to_string(id) + " : i32) : i32\n  %n = llvm.mlir.constant(" +
           std::to_string(threads) +
           " : i32) : i32\n  nvvm.barrier id = %id number_of_threads = %n\n"
           "  llvm.return\n}\n";
  };
  EXPECT_FOUND(run(kernel(16, 32), blockOf(32)), "barrier 16 does not exist");
  EXPECT_FOUND(run(kernel(1, 40), blockOf(64)), "expected a multiple of 32");
  EXPECT_FOUND(run(kernel(1, 96), blockOf(64)), "at most the 64 of the block");
  // Three warps at a barrier of two: the third waits for ever.
  EXPECT_FOUND(run(kernel(1, 64), blockOf(96)),
               "barrier 1, where 32 of 64 threads have arrived");
}

TEST(Fault, TrapAndLivelock) {
  auto result = run(R"mlir(
llvm.func @k() attributes {nvvm.kernel} {
  "llvm.intr.trap"() : () -> ()
  llvm.unreachable
}
)mlir",
                    blockOf(1));
  EXPECT_FOUND(result, "k.mlir:3: [llvm.intr.trap] the kernel trapped");
  result = run(R"mlir(
llvm.func @k(%flag: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.br ^look
^look:
  %v = llvm.load volatile %flag : !llvm.ptr<1> -> i32
  %go = llvm.icmp "eq" %v, %zero : i32
  llvm.cond_br %go, ^look, ^end
^end:
  llvm.return
}
)mlir",
               blockOf(2), *std::make_unique<std::vector<int32_t>>(1));
  EXPECT_FOUND(result, "k.mlir:6: [llvm.load] livelock");
}

/// After a fault the next launch is as good as the first.
TEST(Fault, LeavesTheProcessUsable) {
  std::string text = elementwise("  nvvm.barrier0\n"
                                 "  %y = llvm.add %x, %x : i32\n");
  Compiled compiled = compile(text);
  ASSERT_TRUE(compiled.kernel) << compiled.error;
  std::vector<int32_t> in(64, 4), out(64), less(60);
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(Args(in, less).launch(*compiled.kernel, blockOf(64, 20)));
    EXPECT_TRUE(Args(in, out).launch(*compiled.kernel, blockOf(64, 20)));
    EXPECT_EQ(out, std::vector<int32_t>(64, 8));
  }
}

} // namespace
