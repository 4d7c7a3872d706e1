// Shuffles, votes and their like, by the rules of the PTX ISA.
#include "Harness.h"
#include "gtest/gtest.h"
#include <numeric>

using namespace tessera::test;

namespace {

std::vector<int32_t> numbers(int32_t count, int32_t first = 100) {
  std::vector<int32_t> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

std::string constants(uint32_t mask, uint32_t offset, uint32_t clamp) {
  auto line = [](const char *name, uint32_t value) {
    return std::string("  %") + name + " = llvm.mlir.constant(" +
           std::to_string(int32_t(value)) + " : i32) : i32\n";
  };
  return line("mask", mask) + line("offset", offset) + line("clamp", clamp);
}

/// Numbers that the kernel finds behind the first 64 of its input, so that one
/// kernel does for all of them.
struct Setting {
  uint32_t mask, offset, clamp;
};

std::vector<int32_t> with(std::vector<int32_t> values, Setting setting) {
  values.resize(64);
  for (uint32_t number : {setting.mask, setting.offset, setting.clamp})
    values.push_back(int32_t(number));
  return values;
}

std::string loadSetting() {
  std::string text;
  int index = 64;
  for (std::string name : {"mask", "offset", "clamp"})
    text += "  %i" + name + " = llvm.mlir.constant(" + std::to_string(index++) +
            " : i32) : i32\n  %p" + name + " = llvm.getelementptr %in[%i" +
            name + "] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32\n  %" + name +
            " = llvm.load %p" + name + " : !llvm.ptr<1> -> i32\n";
  return text;
}

/// y = the shuffled x, plus 1000 where the source is in range.
std::string shuffleKernel(const std::string &mode) {
  return elementwise(loadSetting() + R"mlir(
  %r = nvvm.shfl.sync )mlir" +
                     mode + R"mlir( %mask, %x, %offset, %clamp
       {return_value_and_is_valid} : i32 -> !llvm.struct<(i32, i1)>
  %v = llvm.extractvalue %r[0] : !llvm.struct<(i32, i1)>
  %p = llvm.extractvalue %r[1] : !llvm.struct<(i32, i1)>
  %thousand = llvm.mlir.constant(1000 : i32) : i32
  %plus = llvm.add %v, %thousand : i32
  %y = llvm.select %p, %plus, %v : i1, i32
)mlir");
}

/// What the shuffle does in a warp that is cut into segments of `width` lanes:
/// the source as a place in the segment, and whether there is one.
int expectedSource(const std::string &mode, int lane, int offset, int width,
                   bool &inRange) {
  int segment = lane / width * width, place = lane % width;
  int source = mode == "up"     ? place - offset
               : mode == "down" ? place + offset
               : mode == "bfly" ? (place ^ offset)
                                : offset % width;
  // A butterfly may leave the segment towards lower lanes.
  inRange = mode == "bfly" ? (lane ^ offset) < segment + width
                           : source >= 0 && source < width;
  if (mode == "bfly")
    return inRange ? lane ^ offset : lane;
  return inRange ? segment + source : lane;
}

TEST(Shuffle, EveryModeInSegmentsOfEveryWidth) {
  for (std::string mode : {"up", "down", "bfly", "idx"}) {
    Compiled compiled = compile(shuffleKernel(mode));
    ASSERT_TRUE(compiled.kernel) << compiled.error;
    for (int width : {32, 16, 8, 4, 2, 1})
      for (int offset = 0; offset < 32; ++offset) {
        // Section "shfl.sync": the mask of the segment is in bits 8 to 12 of c,
        // the clamp in bits 0 to 4: 0 for up, else the last lane.
        uint32_t clamp = uint32_t(32 - width) << 8 | (mode == "up" ? 0 : 31);
        auto in = with(numbers(64), {~0u, uint32_t(offset), clamp});
        auto out = numbers(64, 0);
        auto result = Args(in, out).launch(*compiled.kernel, blockOf(64));
        ASSERT_TRUE(result) << result.error;
        for (int i = 0; i < 64; ++i) {
          bool inRange = false;
          int source = i / 32 * 32 +
                       expectedSource(mode, i % 32, offset, width, inRange);
          ASSERT_EQ(out[i], in[source] + (inRange ? 1000 : 0))
              << mode << " width " << width << " offset " << offset << " lane "
              << i;
        }
      }
  }
}

TEST(Shuffle, AClampBelowTheSegmentsEnd) {
  auto in = with(numbers(32), {~0u, 4, 19}), out = numbers(32, 0);
  // Lanes take from 4 above; those past lane 19 keep their own.
  ASSERT_TRUE(run(shuffleKernel("down"), blockOf(32), in, out));
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], i + 4 <= 19 ? in[i + 4] + 1000 : in[i]) << i;
}

/// Only lanes below 12 shuffle; the others add one.
std::string partial(uint32_t mask) {
  return elementwise(constants(mask, 1, 31) + R"mlir(
  %twelve = llvm.mlir.constant(12 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %low = llvm.icmp "ult" %tid, %twelve : i32
  llvm.cond_br %low, ^shuffle, ^other
^shuffle:
  %s = nvvm.shfl.sync bfly %mask, %x, %offset, %clamp : i32 -> i32
  llvm.br ^join(%s : i32)
^other:
  %o = llvm.add %x, %one : i32
  llvm.br ^join(%o : i32)
^join(%y: i32):
)mlir");
}

TEST(Shuffle, PartialMaskWithinABranch) {
  for (uint64_t seed : {0, 1, 2, 3}) {
    auto in = numbers(32), out = numbers(32, 0);
    LaunchConfig config = blockOf(32);
    config.seed = seed;
    auto result = run(partial(0xfff), config, in, out);
    ASSERT_TRUE(result) << result.error;
    for (int i = 0; i < 32; ++i)
      EXPECT_EQ(out[i], i < 12 ? in[i ^ 1] : in[i] + 1);
  }
}

TEST(Shuffle, ALaneOutsideTheMaskIsAnError) {
  auto in = numbers(32), out = numbers(32, 0);
  auto result = run(partial(0xff), blockOf(32), in, out);
  EXPECT_NE(result.error.find("lane 8 executes this and is not in its mask"),
            std::string::npos)
      << result.error;
}

TEST(Shuffle, FromALaneThatDoesNotTakePart) {
  auto in = with(numbers(24), {0x00ffffff, 16, 31}), out = numbers(24, 0);
  std::string text = shuffleKernel("bfly");
  auto result = run(text, blockOf(24), in, out);
  EXPECT_NE(result.error.find("comes from lane 24"), std::string::npos)
      << result.error;
  LaunchConfig config = blockOf(24);
  config.checks.init = false; // then it is some value, and no fault
  EXPECT_TRUE(run(text, config, in, out));
  EXPECT_EQ(out[0], in[16] + 1000);
}

TEST(Shuffle, ExitedLanesAreNotWaitedFor) {
  std::string text = R"mlir(
llvm.func @k(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %mask = llvm.mlir.constant(-1 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %clamp = llvm.mlir.constant(31 : i32) : i32
  %ten = llvm.mlir.constant(10 : i32) : i32
  %leaves = llvm.icmp "uge" %tid, %ten : i32
  llvm.cond_br %leaves, ^end, ^go
^go:
  %y = nvvm.shfl.sync bfly %mask, %tid, %one, %clamp : i32 -> i32
  %p = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  llvm.store %y, %p : i32, !llvm.ptr<1>
  llvm.br ^end
^end:
  llvm.return
}
)mlir";
  for (uint64_t seed : {0, 5}) {
    auto out = numbers(10, 0);
    LaunchConfig config = blockOf(32);
    config.seed = seed;
    auto result = run(text, config, out);
    ASSERT_TRUE(result) << result.error;
    for (int i = 0; i < 10; ++i)
      EXPECT_EQ(out[i], i ^ 1);
  }
}

/// y = the vote of the lanes of `mask` on x; others 7.
std::string voteKernel(const std::string &kind) {
  std::string type = kind == "ballot" ? "i32" : "i1";
  std::string y = kind == "ballot" ? "  llvm.br ^join(%v : i32)\n"
                                   : "  %w = llvm.zext %v : i1 to i32\n"
                                     "  llvm.br ^join(%w : i32)\n";
  return elementwise(loadSetting() + R"mlir(
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %seven = llvm.mlir.constant(7 : i32) : i32
  %pred = llvm.icmp "ne" %x, %zero : i32
  %lane = nvvm.read.ptx.sreg.laneid : i32
  %bits = llvm.lshr %mask, %lane : i32
  %bit = llvm.trunc %bits : i32 to i1
  llvm.cond_br %bit, ^vote, ^join(%seven : i32)
^vote:
  %v = nvvm.vote.sync )mlir" +
                     kind + " %mask, %pred -> " + type + "\n" + y +
                     "^join(%y: i32):\n");
}

TEST(Vote, EveryKindOnFullAndPartialMasks) {
  auto check = [](const char *kind, auto expected) {
    Compiled compiled = compile(voteKernel(kind));
    ASSERT_TRUE(compiled.kernel) << compiled.error;
    for (uint32_t mask : {~0u, 0x0000ffffu, 0x00100010u})
      for (uint32_t vote : {0u, ~0u, 0x10u, 0x0000ffffu, 0x5a5a1234u}) {
        std::vector<int32_t> in(32), out(32);
        for (int i = 0; i < 32; ++i)
          in[i] = int32_t(vote >> i & 1);
        in = with(in, {mask, 0, 0});
        auto result = Args(in, out).launch(*compiled.kernel, blockOf(32));
        ASSERT_TRUE(result) << result.error;
        for (int i = 0; i < 32; ++i)
          EXPECT_EQ(uint32_t(out[i]),
                    mask >> i & 1 ? uint32_t(expected(vote & mask, mask)) : 7u)
              << kind;
      }
  };
  check("any", [](uint32_t votes, uint32_t) { return votes != 0; });
  check("all", [](uint32_t votes, uint32_t mask) { return votes == mask; });
  check("uni", [](uint32_t votes, uint32_t mask) {
    return votes == mask || votes == 0;
  });
  check("ballot", [](uint32_t votes, uint32_t) { return votes; });
}

TEST(Redux, EveryKind) {
  std::vector<int32_t> in(32), out(32);
  for (int i = 0; i < 32; ++i)
    in[i] = (i * 37 % 32 - 16) * 1000003;
  auto fold = [&](auto f) {
    return std::accumulate(in.begin() + 1, in.end(), in[0], f);
  };
  using U = uint32_t;
  std::pair<const char *, int32_t> cases[] = {
      {"add", fold([](int a, int b) { return int(U(a) + U(b)); })},
      {"and", fold([](int a, int b) { return a & b; })},
      {"or", fold([](int a, int b) { return a | b; })},
      {"xor", fold([](int a, int b) { return a ^ b; })},
      {"max", fold([](int a, int b) { return std::max(a, b); })},
      {"min", fold([](int a, int b) { return std::min(a, b); })},
      {"umax", fold([](int a, int b) { return int(std::max(U(a), U(b))); })},
      {"umin", fold([](int a, int b) { return int(std::min(U(a), U(b))); })}};
  for (auto [kind, expected] : cases) {
    auto result =
        run(elementwise(constants(~0u, 0, 0) + "  %y = nvvm.redux.sync " +
                        kind + " %x, %mask : i32 -> i32\n"),
            blockOf(32), in, out);
    ASSERT_TRUE(result) << result.error;
    EXPECT_EQ(out, std::vector<int32_t>(32, expected)) << kind;
  }
}

TEST(Match, AnyAndAll) {
  std::vector<int32_t> in(32), out(32);
  for (int i = 0; i < 32; ++i)
    in[i] = i % 3;
  ASSERT_TRUE(run(elementwise(constants(~0u, 0, 0) +
                              "  %y = nvvm.match.sync any %mask, %x "
                              ": i32 -> i32\n"),
                  blockOf(32), in, out));
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(uint32_t(out[i]), 0x49249249u << i % 3) << i;
  std::string all = elementwise(constants(~0u, 0, 0) + R"mlir(
  %r = nvvm.match.sync all %mask, %x : i32 -> !llvm.struct<(i32, i1)>
  %y = llvm.extractvalue %r[0] : !llvm.struct<(i32, i1)>
)mlir");
  ASSERT_TRUE(run(all, blockOf(32), in, out));
  EXPECT_EQ(out, std::vector<int32_t>(32, 0));
  in.assign(32, 9);
  ASSERT_TRUE(run(all, blockOf(32), in, out));
  EXPECT_EQ(out, std::vector<int32_t>(32, -1));
}

TEST(Registers, LaneMasksAndPlaces) {
  std::string text = elementwise(R"mlir(
  %lt = nvvm.read.ptx.sreg.lanemask.lt : i32
  %le = nvvm.read.ptx.sreg.lanemask.le : i32
  %eq = nvvm.read.ptx.sreg.lanemask.eq : i32
  %ge = nvvm.read.ptx.sreg.lanemask.ge : i32
  %gt = nvvm.read.ptx.sreg.lanemask.gt : i32
  %warp = nvvm.read.ptx.sreg.warpid : i32
  %a = llvm.xor %lt, %eq : i32
  %b = llvm.xor %a, %le : i32
  %c = llvm.xor %ge, %gt : i32
  %d = llvm.xor %c, %eq : i32
  %e = llvm.or %b, %d : i32
  %size = nvvm.read.ptx.sreg.warpsize : i32
  %f = llvm.add %e, %size : i32
  %g = llvm.add %f, %warp : i32
  %y = llvm.add %g, %lt : i32
)mlir");
  std::vector<int32_t> in(64), out(64);
  ASSERT_TRUE(run(text, blockOf(64), in, out));
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(uint32_t(out[i]), 32u + i / 32 + ((1u << i % 32) - 1)) << i;
}

TEST(Elect, TheFirstLaneOfTheMask) {
  std::string text = elementwise(constants(0xfffffff0, 0, 0) + R"mlir(
  %four = llvm.mlir.constant(4 : i32) : i32
  %in_mask = llvm.icmp "uge" %tid, %four : i32
  llvm.cond_br %in_mask, ^elect, ^join(%four : i32)
^elect:
  %e = nvvm.elect.sync %mask -> i1
  %w = llvm.zext %e : i1 to i32
  llvm.br ^join(%w : i32)
^join(%y: i32):
)mlir");
  std::vector<int32_t> in(32), out(32);
  auto result = run(text, blockOf(32), in, out);
  ASSERT_TRUE(result) << result.error;
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], i < 4 ? 4 : i == 4);
}

} // namespace
