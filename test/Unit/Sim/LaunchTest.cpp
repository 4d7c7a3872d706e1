// Launches: grids over several threads, orders by seed, and impossible ones.
#include "Harness.h"
#include "gtest/gtest.h"
#include <numeric>
#include <stdexcept>

using namespace tessera::test;

namespace {

#define EXPECT_FOUND(result, text)                                             \
  EXPECT_NE((result).error.find(text), std::string::npos) << (result).error

/// Each block sums its 128 elements: a butterfly in each warp, the warps' sums
/// through shared memory, then one atomic add a block.
const char *kReduction = R"mlir(
gpu.module @kernels {
  llvm.mlir.global internal @partials() {addr_space = 3 : i32} : !llvm.array<4 x f32>
  llvm.func @k(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 128>} {
    %tid = nvvm.read.ptx.sreg.tid.x range <i32, 0, 128> : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %lane = nvvm.read.ptx.sreg.laneid : i32
    %warp = nvvm.read.ptx.sreg.warpid : i32
    %size = nvvm.read.ptx.sreg.ntid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %two = llvm.mlir.constant(2 : i32) : i32
    %all = llvm.mlir.constant(-1 : i32) : i32
    %clamp = llvm.mlir.constant(31 : i32) : i32
    %nothing = llvm.mlir.constant(0.0 : f32) : f32
    %start = llvm.mul %block, %size : i32
    %i = llvm.add %start, %tid : i32
    %inside = llvm.icmp "ult" %i, %n : i32
    llvm.cond_br %inside, ^load, ^sum(%nothing : f32)
  ^load:
    %p = llvm.getelementptr %in[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %x = llvm.load %p : !llvm.ptr<1> -> f32
    llvm.br ^sum(%x : f32)
  ^sum(%first: f32):
    %sixteen = llvm.mlir.constant(16 : i32) : i32
    llvm.br ^fold(%sixteen, %first : i32, f32)
  ^fold(%offset: i32, %value: f32):
    %other = nvvm.shfl.sync bfly %all, %value, %offset, %clamp : f32 -> f32
    %sum = llvm.fadd %value, %other : f32
    %half = llvm.udiv %offset, %two : i32
    %more = llvm.icmp "ne" %half, %zero : i32
    llvm.cond_br %more, ^fold(%half, %sum : i32, f32), ^folded
  ^folded:
    %is_first = llvm.icmp "eq" %lane, %zero : i32
    llvm.cond_br %is_first, ^publish, ^meet
  ^publish:
    %partials = llvm.mlir.addressof @partials : !llvm.ptr<3>
    %mine = llvm.getelementptr %partials[%warp] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    llvm.store %sum, %mine : f32, !llvm.ptr<3>
    llvm.br ^meet
  ^meet:
    nvvm.barrier0
    %leads = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %leads, ^total(%zero, %nothing : i32, f32), ^end
  ^total(%w: i32, %so_far: f32):
    %place = llvm.mlir.addressof @partials : !llvm.ptr<3>
    %theirs = llvm.getelementptr %place[%w] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %partial = llvm.load %theirs : !llvm.ptr<3> -> f32
    %now = llvm.fadd %so_far, %partial : f32
    %one = llvm.mlir.constant(1 : i32) : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %next = llvm.add %w, %one : i32
    %again = llvm.icmp "ult" %next, %four : i32
    llvm.cond_br %again, ^total(%next, %now : i32, f32), ^add
  ^add:
    %old = llvm.atomicrmw fadd %out, %now monotonic : !llvm.ptr<1>, f32
    llvm.br ^end
  ^end:
    llvm.return
  }
}
)mlir";

TEST(Launch, AReductionIsExactOnAnyNumberOfThreadsInAnyOrder) {
  for (Reports reports : {Reports::None, Reports::Checks, Reports::Both}) {
    Compiled compiled = compile(kReduction, reports);
    ASSERT_TRUE(compiled.kernel) << compiled.error;
    int32_t n = 64 * 128 - 45;
    std::vector<float> in(n);
    for (int i = 0; i < n; ++i)
      in[i] = float(i % 7);
    float expected = std::accumulate(in.begin(), in.end(), 0.0f);
    for (int threads : {1, 2, 3, 8})
      for (uint64_t seed : {0, 1, 2}) {
        std::vector<float> out(1);
        LaunchConfig config = blockOf(128, 64);
        config.threads = threads;
        config.seed = seed;
        if (reports == Reports::None)
          config.checks = {};
        auto result = Args(in, out, n).launch(*compiled.kernel, config);
        ASSERT_TRUE(result) << result.error;
        EXPECT_EQ(out[0], expected) << threads << " threads, seed " << seed;
        EXPECT_EQ(result.counters.blocks, 64u);
        EXPECT_EQ(result.counters.barriers, 64u);
        EXPECT_EQ(result.counters.collectives, 64u * 4 * 5);
      }
  }
}

/// out[index of the block] = index of the block; by all three dimensions.
TEST(Launch, GridsAndBlocksOfThreeDimensions) {
  std::string text = R"mlir(
llvm.func @k(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %bx = nvvm.read.ptx.sreg.ctaid.x : i32
  %by = nvvm.read.ptx.sreg.ctaid.y : i32
  %bz = nvvm.read.ptx.sreg.ctaid.z : i32
  %gx = nvvm.read.ptx.sreg.nctaid.x : i32
  %gy = nvvm.read.ptx.sreg.nctaid.y : i32
  %tx = nvvm.read.ptx.sreg.tid.x : i32
  %ty = nvvm.read.ptx.sreg.tid.y : i32
  %tz = nvvm.read.ptx.sreg.tid.z : i32
  %nx = nvvm.read.ptx.sreg.ntid.x : i32
  %ny = nvvm.read.ptx.sreg.ntid.y : i32
  %nz = nvvm.read.ptx.sreg.ntid.z : i32
  %a = llvm.mul %bz, %gy : i32
  %b = llvm.add %a, %by : i32
  %c = llvm.mul %b, %gx : i32
  %block = llvm.add %c, %bx : i32
  %d = llvm.mul %block, %nz : i32
  %e = llvm.add %d, %tz : i32
  %f = llvm.mul %e, %ny : i32
  %g = llvm.add %f, %ty : i32
  %h = llvm.mul %g, %nx : i32
  %i = llvm.add %h, %tx : i32
  %p = llvm.getelementptr %out[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  llvm.store %i, %p : i32, !llvm.ptr<1>
  llvm.return
}
)mlir";
  std::vector<int32_t> out(3 * 4 * 5 * 2 * 3 * 7, -1), expected(out.size());
  std::iota(expected.begin(), expected.end(), 0);
  LaunchConfig config;
  config.grid = {3, 4, 5};
  config.block = {2, 3, 7};
  config.checks = Checks::all();
  auto result = run(text, config, out);
  ASSERT_TRUE(result) << result.error;
  EXPECT_EQ(out, expected);
}

TEST(Launch, NumbersAreArguments) {
  std::string text = R"mlir(
llvm.func @k(%out: !llvm.ptr<1>, %a: i8, %b: f64, %c: i64, %d: f32) attributes {nvvm.kernel} {
  %x = llvm.sitofp %a : i8 to f64
  %y = llvm.sitofp %c : i64 to f64
  %z = llvm.fpext %d : f32 to f64
  %s = llvm.fadd %x, %b : f64
  %t = llvm.fadd %s, %y : f64
  %u = llvm.fadd %t, %z : f64
  llvm.store %u, %out : f64, !llvm.ptr<1>
  llvm.return
}
)mlir";
  std::vector<double> out(1);
  int8_t a = -3;
  double b = 0.25;
  int64_t c = int64_t(1) << 40;
  float d = 100;
  ASSERT_TRUE(run(text, blockOf(1), out, a, b, c, d));
  EXPECT_EQ(out[0], -3 + 0.25 + double(c) + 100);
}

/// Blocks 5 and up are at fault; the message is that of block 5.
TEST(Launch, TheFirstFaultIsReported) {
  std::string text = R"mlir(
llvm.func @k(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %b = nvvm.read.ptx.sreg.ctaid.x : i32
  %p = llvm.getelementptr %out[%b] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  llvm.store %b, %p : i32, !llvm.ptr<1>
  llvm.return
}
)mlir";
  for (int threads : {1, 2, 3, 8}) {
    std::vector<int32_t> out(5);
    LaunchConfig config = blockOf(1, 100);
    config.threads = threads;
    EXPECT_FOUND(run(text, config, out), "block (5,0,0)");
  }
}

TEST(Launch, ImpossibleOnes) {
  std::string text = elementwise("  %y = llvm.add %x, %x : i32\n");
  std::vector<int32_t> in(32), out(32);
  EXPECT_FOUND(run(text, blockOf(1025), in, out), "expected 1 to 1024 in all");
  EXPECT_FOUND(run(text, blockOf(0), in, out), "expected 1 to 1024 in all");
  EXPECT_FOUND(run(text, blockOf(32, 0), in, out), "a grid of (0,1,1) blocks");
  LaunchConfig large = blockOf(32);
  large.dynamicSharedBytes = 300 << 10;
  EXPECT_FOUND(run(text, large, in, out), "307200 bytes of shared memory");
  Compiled plain = compile(text, Reports::None);
  EXPECT_FOUND(Args(in, out).launch(*plain.kernel, blockOf(32)),
               "was compiled without them");
  int32_t n = 0;
  EXPECT_FOUND(run(kReduction, blockOf(256), in, out, n),
               "the kernel allows 128");
  std::string wide = R"mlir(
llvm.mlir.global internal @tile() {addr_space = 3 : i32} : !llvm.array<50000 x i8>
llvm.func @k() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 8, 4>} {
  %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
  llvm.return
}
)mlir";
  EXPECT_FOUND(run(wide, blockOf(32)), "the kernel requires (8,4,1)");
  LaunchConfig config = blockOf(8);
  config.block.y = 4;
  EXPECT_FOUND(run(wide, config), "of static shared memory: a device allows "
                                  "49152");
}

/// Two kernels of one module, of which each could not have the other's arrays
/// as well; what a function uses counts for the kernels that call it.
TEST(Launch, AKernelHasTheArraysThatItUses) {
  std::string text = R"mlir(
llvm.mlir.global internal @a() {addr_space = 3 : i32} : !llvm.array<40000 x i8>
llvm.mlir.global internal @b() {addr_space = 3 : i32} : !llvm.array<40000 x i8>
llvm.func @store(%v: i8) {
  %a = llvm.mlir.addressof @a : !llvm.ptr<3>
  llvm.store %v, %a : i8, !llvm.ptr<3>
  llvm.return
}
llvm.func @k(%v: i8) attributes {nvvm.kernel} {
  llvm.call @store(%v) : (i8) -> ()
  llvm.return
}
llvm.func @other(%v: i8) attributes {nvvm.kernel} {
  %b = llvm.mlir.addressof @b : !llvm.ptr<3>
  llvm.store %v, %b : i8, !llvm.ptr<3>
  llvm.return
}
)mlir";
  int8_t v = 1;
  auto result = run(text, blockOf(1), v);
  EXPECT_TRUE(result) << result.error;
  Compiled compiled = compile(text);
  ASSERT_TRUE(compiled.kernel) << compiled.error;
  EXPECT_EQ(compiled.kernel->num_arrays, 1u);
  EXPECT_EQ(compiled.kernel->static_bytes, 40000u);
}

TEST(Launch, ChecksByName) {
  Checks checks = Checks::parse("race,init");
  EXPECT_TRUE(checks.race && checks.init && !checks.bounds);
  EXPECT_TRUE(Checks::parse("all").bounds);
  EXPECT_FALSE(Checks::parse("none").bounds);
  for (const char *bad : {"", "races", "race,", "race;init"})
    EXPECT_THROW(Checks::parse(bad), std::invalid_argument) << bad;
}

TEST(Launch, TheEnvironmentSetsChecksAndSeed) {
  using namespace tessera::runtime::sim;
  EXPECT_EQ(seedFromEnvironment(), 0u);
  setenv("TESSERA_SIM_CHECK", "bounds", 1);
  setenv("TESSERA_SIM_SEED", "12", 1);
  EXPECT_FALSE(checksFromEnvironment(Checks::all()).race);
  EXPECT_TRUE(checksFromEnvironment({}).bounds);
  EXPECT_EQ(seedFromEnvironment(), 12u);
  setenv("TESSERA_SIM_CHECK", "bonds", 1);
  EXPECT_THROW(checksFromEnvironment({}), std::invalid_argument);
  unsetenv("TESSERA_SIM_CHECK");
  unsetenv("TESSERA_SIM_SEED");
  EXPECT_TRUE(checksFromEnvironment(Checks::all()).race);
}

} // namespace
