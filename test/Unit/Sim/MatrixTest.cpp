// ldmatrix and mma.sync, compared with plain matrix products through the
// layouts that the PTX ISA writes out.
#include "Harness.h"
#include "gtest/gtest.h"
#include <bit>
#include <cmath>
#include <functional>
#include <random>

using namespace tessera::test;

namespace {

uint16_t bf16Of(float value) {
  return uint16_t(std::bit_cast<uint32_t>(value) >> 16);
}

/// For small whole numbers and halves, which f16 holds.
uint16_t f16Of(float value) {
  if (value == 0)
    return 0;
  int exponent = 0;
  float fraction = std::frexp(std::fabs(value), &exponent);
  return uint16_t((value < 0 ? 0x8000 : 0) | (exponent + 14) << 10 |
                  int(fraction * 2048) % 1024);
}

/// One matrix of the ISA's figures: the row and the column of element i of a
/// lane, written as the text has it.
struct Layout {
  int elements;
  std::function<int(int group, int thread, int i)> row, column;
};

struct Case {
  const char *name;
  int m, n, k, bits; ///< of an element of A and B
  std::string attributes, operandType, accumulatorType;
  Layout a, b;
};

void PrintTo(const Case &c, std::ostream *os) { *os << c.name; }

// "groupID = %laneid >> 2, threadID_in_group = %laneid % 4"; the formulas are
// those of the sections "Matrix Fragments for mma.m16n8k*".
const Layout kHalfA16{
    8, [](int g, int, int i) { return i < 2 || (i >= 4 && i < 6) ? g : g + 8; },
    [](int, int t, int i) { return t * 2 + (i & 1) + (i >= 4 ? 8 : 0); }};
const Layout kHalfB16{
    4, [](int, int t, int i) { return t * 2 + (i & 1) + (i >= 2 ? 8 : 0); },
    [](int g, int, int) { return g; }};
const Layout kHalfA8{4, [](int g, int, int i) { return i < 2 ? g : g + 8; },
                     [](int, int t, int i) { return t * 2 + (i & 1); }};
const Layout kHalfB8{2, [](int, int t, int i) { return t * 2 + i; },
                     [](int g, int, int) { return g; }};
const Layout kTf32A4{2, [](int g, int, int i) { return i == 0 ? g : g + 8; },
                     [](int, int t, int) { return t; }};
const Layout kTf32B4{1, [](int, int t, int) { return t; },
                     [](int g, int, int) { return g; }};
const Layout kTf32A8{
    4, [](int g, int, int i) { return i == 0 || i == 2 ? g : g + 8; },
    [](int, int t, int i) { return i < 2 ? t : t + 4; }};
const Layout kTf32B8{2, [](int, int t, int i) { return i == 0 ? t : t + 4; },
                     [](int g, int, int) { return g; }};
const Layout kByteA32{
    16,
    [](int g, int, int i) { return i < 4 || (i >= 8 && i < 12) ? g : g + 8; },
    [](int, int t, int i) { return t * 4 + (i & 3) + (i >= 8 ? 16 : 0); }};
const Layout kByteB32{
    8, [](int, int t, int i) { return t * 4 + (i & 3) + (i >= 4 ? 16 : 0); },
    [](int g, int, int) { return g; }};
const Layout kByteA16{8, [](int g, int, int i) { return i < 4 ? g : g + 8; },
                      [](int, int t, int i) { return t * 4 + (i & 3); }};
const Layout kByteB16{4, [](int, int t, int i) { return t * 4 + (i & 3); },
                      [](int g, int, int) { return g; }};
const Layout kC{4, [](int g, int, int i) { return i < 2 ? g : g + 8; },
                [](int, int t, int i) { return t * 2 + (i & 1); }};

/// A kernel that loads the registers of A, B and C from three buffers, 8 words
/// a lane each, and stores those of D.
std::string mmaKernel(const Case &c) {
  int aWords = c.a.elements * c.bits / 32, bWords = c.b.elements * c.bits / 32;
  std::string load, text,
      types = c.operandType + ", " + c.operandType + ", " + c.accumulatorType;
  auto loads = [&](const char *name, int count, const std::string &type) {
    std::string list;
    for (int i = 0; i < count; ++i) {
      std::string id = name + std::to_string(i);
      load += "  %i" + id + " = llvm.mlir.constant(" + std::to_string(i) +
              " : i32) : i32\n  %p" + id + " = llvm.getelementptr %" + name +
              "p[%i" + id +
              "] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32\n  %" + id +
              " = llvm.load %p" + id +
              " {alignment = 4 : i64} : !llvm.ptr<1> -> " + type + "\n";
      list += (i ? ", %" : "%") + id;
    }
    return list;
  };
  std::string a = loads("a", aWords, c.operandType),
              b = loads("b", bWords, c.operandType),
              acc = loads("c", 4, c.accumulatorType);
  std::string result = "!llvm.struct<(" + c.accumulatorType;
  for (int i = 1; i < 4; ++i)
    result += ", " + c.accumulatorType;
  result += ")>";
  std::string store;
  for (int i = 0; i < 4; ++i) {
    std::string n = std::to_string(i);
    store += "  %d" + n + " = llvm.extractvalue %d[" + n + "] : " + result +
             "\n  %q" + n + " = llvm.getelementptr %dp[%ic" + n +
             "] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32\n  llvm.store %d" +
             n + ", %q" + n + " : " + c.accumulatorType + ", !llvm.ptr<1>\n";
  }
  std::string places;
  for (const char *name : {"a", "b", "c", "d"})
    places += std::string("  %") + name + "p = llvm.getelementptr %" + name +
              "buf[%first] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32\n";
  return "llvm.func @k(%abuf: !llvm.ptr<1>, %bbuf: !llvm.ptr<1>, %cbuf: "
         "!llvm.ptr<1>, %dbuf: !llvm.ptr<1>) attributes {nvvm.kernel} {\n"
         "  %lane = nvvm.read.ptx.sreg.laneid : i32\n"
         "  %eight = llvm.mlir.constant(8 : i32) : i32\n"
         "  %first = llvm.mul %lane, %eight : i32\n" +
         places + load + "  %d = nvvm.mma.sync A[" + a + "] B[" + b + "] C[" +
         acc + "] {" + c.attributes +
         "layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, "
         "shape = #nvvm.shape<m = " +
         std::to_string(c.m) + ", n = " + std::to_string(c.n) +
         ", k = " + std::to_string(c.k) + ">} : (" + types + ") -> " + result +
         "\n" + store + "  llvm.return\n}\n";
}

/// Packs a matrix into registers, 8 words a lane, by a layout.
std::vector<uint32_t> pack(const std::vector<uint32_t> &matrix, int columns,
                           const Layout &layout, int bits) {
  std::vector<uint32_t> registers(32 * 8);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < layout.elements; ++i) {
      int row = layout.row(lane >> 2, lane % 4, i),
          column = layout.column(lane >> 2, lane % 4, i);
      int each = 32 / bits;
      registers[lane * 8 + i / each] |= matrix[row * columns + column]
                                        << i % each * bits;
    }
  return registers;
}

class Mma : public testing::TestWithParam<Case> {};

/// Whole numbers of a range where every product and sum is exact, in f32 too.
TEST_P(Mma, IsAMatrixProduct) {
  const Case &c = GetParam();
  std::mt19937 random(1);
  auto number = [&] { return int(random() % 17) - 8; };
  auto encode = [&](int value) -> uint32_t {
    if (c.bits == 8)
      return uint8_t(value);
    if (c.bits == 32)
      return std::bit_cast<uint32_t>(float(value));
    return c.operandType == "i32" ? bf16Of(float(value)) : f16Of(float(value));
  };
  std::vector<int> a(c.m * c.k), b(c.k * c.n), acc(c.m * c.n);
  std::vector<uint32_t> aBits, bBits, cBits;
  for (int &v : a)
    aBits.push_back(encode(v = number()));
  for (int &v : b)
    bBits.push_back(encode(v = number()));
  bool isFloat = c.accumulatorType == "f32";
  for (int &v : acc)
    cBits.push_back(isFloat ? std::bit_cast<uint32_t>(float(v = number()))
                            : uint32_t(v = number()));
  auto aIn = pack(aBits, c.k, c.a, c.bits), bIn = pack(bBits, c.n, c.b, c.bits),
       cIn = pack(cBits, c.n, kC, 32);
  std::vector<uint32_t> out(32 * 8);
  for (uint64_t seed : {0, 3}) {
    LaunchConfig config = blockOf(32);
    config.seed = seed;
    auto result = run(mmaKernel(c), config, aIn, bIn, cIn, out);
    ASSERT_TRUE(result) << result.error;
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i) {
        int row = kC.row(lane >> 2, lane % 4, i),
            column = kC.column(lane >> 2, lane % 4, i);
        int sum = acc[row * c.n + column];
        for (int k = 0; k < c.k; ++k)
          sum += a[row * c.k + k] * b[k * c.n + column];
        uint32_t bits = out[lane * 8 + i];
        EXPECT_EQ(isFloat ? int(std::bit_cast<float>(bits)) : int(bits), sum)
            << "row " << row << " column " << column;
      }
  }
}

std::string multiplicands(const std::string &type) {
  return "multiplicandAPtxType = #nvvm.mma_type<" + type +
         ">, multiplicandBPtxType = #nvvm.mma_type<" + type + ">, ";
}

const std::string kWrapped =
    "intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>, ";

INSTANTIATE_TEST_SUITE_P(
    Shapes, Mma,
    testing::Values(Case{"f16k16", 16, 8, 16, 16, "", "vector<2xf16>", "f32",
                         kHalfA16, kHalfB16},
                    Case{"f16k8", 16, 8, 8, 16, "", "vector<2xf16>", "f32",
                         kHalfA8, kHalfB8},
                    Case{"bf16k16", 16, 8, 16, 16, multiplicands("bf16"), "i32",
                         "f32", kHalfA16, kHalfB16},
                    Case{"bf16k8", 16, 8, 8, 16, multiplicands("bf16"), "i32",
                         "f32", kHalfA8, kHalfB8},
                    Case{"tf32k8", 16, 8, 8, 32, multiplicands("tf32"), "i32",
                         "f32", kTf32A8, kTf32B8},
                    Case{"tf32k4", 16, 8, 4, 32, multiplicands("tf32"), "i32",
                         "f32", kTf32A4, kTf32B4},
                    Case{"s8k32", 16, 8, 32, 8, kWrapped + multiplicands("s8"),
                         "i32", "i32", kByteA32, kByteB32},
                    Case{"s8k16", 16, 8, 16, 8, kWrapped + multiplicands("s8"),
                         "i32", "i32", kByteA16, kByteB16}),
    [](const auto &info) { return std::string(info.param.name); });

/// y = register `word` of an ldmatrix of eight rows of eight i16 each, for each
/// of `count` matrices; row r of matrix i is at row 8 * i + r of @tile.
std::string loadKernel(int count, const std::string &layout, int word) {
  std::string type = "i32";
  std::string y = "  %y = llvm.bitcast %r : i32 to i32\n";
  if (count > 1) {
    type = "!llvm.struct<(i32, i32" +
           std::string(count == 4 ? ", i32, i32" : "") + ")>";
    y = "  %y = llvm.extractvalue %r[" + std::to_string(word) + "] : " + type +
        "\n";
  }
  return elementwise(
      R"mlir(
  %base = llvm.mlir.addressof @tile : !llvm.ptr<3>
  %four = llvm.mlir.constant(4 : i32) : i32
  %begin = llvm.mul %tid, %four : i32
  %row = llvm.getelementptr %base[%begin] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %from = llvm.getelementptr %in[%begin] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  %v = llvm.load %from {alignment = 4 : i64} : !llvm.ptr<1> -> vector<4xi32>
  llvm.store %v, %row : vector<4xi32>, !llvm.ptr<3>
  nvvm.barrier0
  %r = nvvm.ldmatrix %row {eltType = #nvvm.ld_st_matrix_elt_type<b16>,
    layout = #nvvm.mma_layout<)mlir" +
          layout + ">, num = " + std::to_string(count) +
          " : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>} : "
          "(!llvm.ptr<3>) -> " +
          type + "\n" + y,
      "llvm.mlir.global internal @tile() {addr_space = 3 : i32, alignment = 16 "
      ": i64} : !llvm.array<128 x i32>\n");
}

TEST(LdMatrix, EveryCountPlainAndTransposed) {
  // Element c of row r is 8 * r + c.
  std::vector<int32_t> in(128), out(32);
  for (int i = 0; i < 128; ++i)
    in[i] = 2 * i | (2 * i + 1) << 16;
  for (int count : {1, 2, 4})
    for (std::string layout : {"row", "col"})
      for (int word = 0; word < count; ++word) {
        auto result =
            run(loadKernel(count, layout, word), blockOf(32), in, out);
        ASSERT_TRUE(result) << result.error;
        for (int lane = 0; lane < 32; ++lane) {
          int line = lane / 4, pair = lane % 4 * 2;
          auto element = [&](int i) {
            return layout == "row" ? 8 * (8 * word + line) + i
                                   : 8 * (8 * word + i) + line;
          };
          EXPECT_EQ(out[lane], element(pair) | element(pair + 1) << 16)
              << count << layout << word << " lane " << lane;
        }
      }
}

TEST(MmaFault, NeedsAWholeWarp) {
  const Case c{"f16k8",         16,    8,       8,      16, "",
               "vector<2xf16>", "f32", kHalfA8, kHalfB8};
  std::vector<uint32_t> buffer(32 * 8), out(32 * 8);
  auto result = run(mmaKernel(c), blockOf(16), buffer, buffer, buffer, out);
  EXPECT_NE(result.error.find("all 32 lanes of a warp must execute this"),
            std::string::npos)
      << result.error;
}

} // namespace
