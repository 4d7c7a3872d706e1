// The Gemm emitter against the scalar definition of a product, bit for bit.
#include "GemmJit.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cmath>
#include <concepts>
#include <cstring>
#include <gtest/gtest.h>
#include <optional>
#include <random>

using namespace mlir;
using namespace tessera::lowering;
using namespace tessera::lowering::cpu;
using namespace tessera::test;
namespace {

template <typename T> Type elementType(MLIRContext *context) {
  OpBuilder b(context);
  if constexpr (std::is_same_v<T, float>)
    return b.getF32Type();
  else if constexpr (std::is_same_v<T, double>)
    return b.getF64Type();
  else
    return b.getIntegerType(8 * sizeof(T));
}

/// One product: sizes, layout, and how it is compiled.
struct Case {
  int64_t batch = 1, m, n, k;
  bool transA = false, transB = false, sharedA = false, sharedB = false;
  std::string cpu = "x86-64-v3";
  std::function<void(GemmPlan &)> change; ///< Edits the schedule.
  int64_t samples = 0;                    ///< Elements to check; 0 is all.
  bool fused = false; ///< Producers 2x+1 on A and 3x on B, epilogue y-5.
  bool heavy = false; ///< The epilogue is declared heavy.
  /// The operands are numbers of bf16, multiplied in pairs. All exponents are
  /// at least this one of floats, and some elements are zeros.
  std::optional<int> leastExponent;
  /// Neighbouring steps of k cancel out but for the last bit of a product.
  bool cancels = false;

  GemmShape shape(Type element) const {
    return {batch, m, n, k, transA, transB, sharedA, sharedB, element};
  }
};

template <typename T> T multiplyAdd(T x, T y, T z, bool fma) {
  if constexpr (std::is_floating_point_v<T>) {
    if (fma)
      return std::fma(x, y, z);
    volatile T product = x * y;
    return product + z;
  } else {
    return x * y + z;
  }
}

/// Integers wrap.
template <typename T> struct Arithmetic {
  using Type = T;
};
template <std::integral T> struct Arithmetic<T> {
  using Type = std::make_unsigned_t<T>;
};

/// The contract's definition of one element.
template <typename T>
T element(const Case &c, const T *a, const T *b, int64_t batch, int64_t i,
          int64_t j) {
  bool fma = c.cpu != "x86-64";
  a += c.sharedA ? 0 : batch * c.m * c.k;
  b += c.sharedB ? 0 : batch * c.k * c.n;
  using W = typename Arithmetic<T>::Type;
  W total = 0;
  for (int64_t begin = 0; begin < c.k; begin += kProductChunk) {
    W chain = 0;
    for (int64_t k = begin; k < std::min(begin + kProductChunk, c.k); ++k) {
      W x = a[c.transA ? k * c.m + i : i * c.k + k];
      W y = b[c.transB ? j * c.k + k : k * c.n + j];
      if (c.fused)
        x = x * 2 + 1, y = y * 3;
      chain = multiplyAdd(x, y, chain, fma);
    }
    total = begin ? total + chain : chain;
  }
  return c.fused ? total - 5 : total;
}

Value constantLike(OpBuilder &b, Location loc, VectorType type, int value) {
  Type element = type.getElementType();
  Attribute scalar = isa<FloatType>(element)
                         ? Attribute(b.getFloatAttr(element, value))
                         : Attribute(b.getIntegerAttr(element, value));
  return arith::ConstantOp::create(b, loc,
                                   DenseElementsAttr::get(type, scalar));
}

/// Adds or multiplies by a small constant, in the type's own arithmetic.
Value apply(OpBuilder &b, Location loc, Value x, char op, int value) {
  auto type = cast<VectorType>(x.getType());
  Value c = constantLike(b, loc, type, value);
  if (isa<FloatType>(type.getElementType()))
    return op == '*' ? Value(arith::MulFOp::create(b, loc, x, c))
                     : Value(arith::AddFOp::create(b, loc, x, c));
  return op == '*' ? Value(arith::MulIOp::create(b, loc, x, c))
                   : Value(arith::AddIOp::create(b, loc, x, c));
}

LoadFn producer(int64_t buffer, int multiply, int add) {
  return [=](OpBuilder &b, Location loc, ValueRange buffers, Value batch,
             Value row, Value col, int64_t lanes, Value mask) -> Value {
    auto memref = cast<MemRefType>(buffers[buffer].getType());
    auto type = VectorType::get({lanes}, memref.getElementType());
    SmallVector<Value> at{batch, row, col};
    Value x;
    if (mask)
      x = vector::MaskedLoadOp::create(b, loc, type, buffers[buffer], at, mask,
                                       constantLike(b, loc, type, 0));
    else
      x = vector::LoadOp::create(b, loc, type, buffers[buffer], at);
    x = apply(b, loc, x, '*', multiply);
    x = add ? apply(b, loc, x, '+', add) : x;
    return mask ? Value(arith::SelectOp::create(b, loc, mask, x,
                                                constantLike(b, loc, type, 0)))
                : x;
  };
}

template <typename T>
int64_t emitCase(const Case &c, ModuleOp module, const TargetInfo &cpu) {
  Location loc = module.getLoc();
  GemmKernel kernel;
  kernel.name = "gemm";
  Type type = elementType<T>(module.getContext());
  kernel.shape = c.shape(type);
  auto add = [&](int64_t batch, int64_t rows, int64_t columns) {
    // MLIR passes no empty memref of a rank above 1 as a bare pointer.
    if (batch * rows * columns == 0)
      kernel.buffers.push_back(MemRefType::get({0}, type));
    else
      kernel.buffers.push_back(MemRefType::get({batch, rows, columns}, type));
  };
  add(c.sharedA ? 1 : c.batch, c.transA ? c.k : c.m, c.transA ? c.m : c.k);
  add(c.sharedB ? 1 : c.batch, c.transB ? c.n : c.k, c.transB ? c.k : c.n);
  add(c.batch, c.m, c.n);
  kernel.a.buffer = 0;
  kernel.b.buffer = 1;
  kernel.store = storeTo(2, kernel.shape);
  kernel.result = 2;
  kernel.heavyStore = c.heavy;
  if (c.leastExponent) {
    kernel.a.load = producer(0, 1, 0);
    kernel.b.load = producer(1, 1, 0);
    kernel.isBF16 = true;
  }
  if (c.fused) {
    kernel.a.load = producer(0, 2, 1);
    kernel.b.load = producer(1, 3, 0);
    kernel.store = [store = kernel.store](OpBuilder &b, Location loc,
                                          ValueRange buffers, Value batch,
                                          Value row, Value col, Value acc,
                                          Value mask) {
      store(b, loc, buffers, batch, row, col, apply(b, loc, acc, '+', -5),
            mask);
    };
  }
  GemmTarget target = factsOf(cpu);
  if (target.pairDot == PairDot::None)
    target.pairDot = PairDot::SpelledOut;
  if (!c.change)
    return emitGemm(module, loc, kernel, target);
  GemmPlan plan = planGemm(kernel.shape, target, c.fused, c.fused, c.heavy);
  c.change(plan);
  return emitGemm(module, loc, kernel, target, plan);
}

template <typename T> CompiledGemm compile(const Case &c) {
  return compileGemm(c.cpu, [&](ModuleOp module, const TargetInfo &cpu) {
    return emitCase<T>(c, module, cpu);
  });
}

template <typename T> std::vector<T> randomValues(int64_t count, int seed) {
  std::mt19937 random(seed);
  std::vector<T> values(count);
  for (T &value : values)
    if constexpr (std::is_floating_point_v<T>)
      value = std::ldexp(T(int32_t(random())), -31);
    else
      value = T(random());
  return values;
}

/// Makes a value one of bf16 whose exponent is `least` or somewhat more, or
/// zero. Below the least normal exponent, -126, there are denormals.
void makeBF16(float &value, int least, std::mt19937 &random) {
  if (random() % 8 == 0)
    value = random() % 2 ? 0.0f : -0.0f;
  else
    value = std::ldexp(float(128 + random() % 128) * (random() % 2 ? 1 : -1),
                       least - 7 + int(random() % 12));
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  bits &= 0xffff0000;
  std::memcpy(&value, &bits, 4);
}

template <typename T> void check(const Case &c) {
  SCOPED_TRACE(::testing::Message()
               << c.batch << ": " << c.m << "x" << c.k << "x" << c.n
               << (c.transA ? " A^T" : "") << (c.transB ? " B^T" : "") << " "
               << c.cpu << " " << c.leastExponent.value_or(0));
  CompiledGemm gemm = compile<T>(c);
  auto a = randomValues<T>((c.sharedA ? 1 : c.batch) * c.m * c.k, 1);
  auto b = randomValues<T>((c.sharedB ? 1 : c.batch) * c.k * c.n, 2);
  if constexpr (std::is_same_v<T, float>)
    if (c.leastExponent) {
      std::mt19937 random(4);
      for (float &x : a)
        makeBF16(x, *c.leastExponent, random);
      // The least make products underflow, and sums -0.
      for (float &x : b)
        makeBF16(x, *c.leastExponent < -130 ? -60 : -10, random);
      auto alternate = [&](std::vector<T> &values, bool alongK, int64_t lines,
                           T even, T odd, int exponent) {
        for (size_t i = 0; i < values.size(); ++i)
          values[i] = std::ldexp(
              (alongK ? i % c.k : i / lines) % 2 ? odd : even, exponent - 7);
      };
      if (c.cancels) {
        alternate(a, !c.transA, c.m, 129, 128, *c.leastExponent);
        alternate(b, c.transB, c.n, 129, -130, -10);
      }
    }
  // Guards on both sides show a store out of bounds.
  const T guard = T(77);
  std::vector<T> result(c.batch * c.m * c.n + 128, guard);
  T *out = result.data() + 64;
  auto *workspace = static_cast<char *>(
      std::aligned_alloc(64, (gemm.workspaceBytes + 127) / 64 * 64));
  std::memset(workspace, 0xff, gemm.workspaceBytes);
  void *buffers[] = {a.data(), b.data(), out, workspace};
  // Tiles may run in any order.
  for (const auto &launch : gemm.launches)
    for (int64_t tile = launch.tiles; tile-- > 0;)
      launch.function(buffers, tile, tile + 1);
  std::free(workspace);
  std::mt19937 random(3);
  int64_t elements = c.batch * c.m * c.n;
  for (int64_t n = 0; n < (c.samples ? c.samples : elements); ++n) {
    int64_t at = c.samples ? random() % elements : n;
    T want = element(c, a.data(), b.data(), at / (c.m * c.n), at / c.n % c.m,
                     at % c.n);
    ASSERT_EQ(std::memcmp(&want, &out[at], sizeof(T)), 0)
        << "element " << at << ": " << out[at] << ", not " << want;
  }
  for (int64_t n = 0; n < 64; ++n) {
    ASSERT_EQ(result[n], guard);
    ASSERT_EQ(out[elements + n], guard);
  }
}

TEST(Gemm, SmallSizes) {
  std::mt19937 random(7);
  for (int n = 0; n < 60; ++n) {
    Case c;
    c.m = 1 + random() % 70, c.n = 1 + random() % 70, c.k = 1 + random() % 70;
    c.transA = random() % 2, c.transB = random() % 2;
    check<float>(c);
  }
}

TEST(Gemm, VectorsAndEmpty) {
  for (auto [m, n, k] : {std::array<int64_t, 3>{1, 1, 1},
                         {1, 70, 33},
                         {70, 1, 33},
                         {2, 100, 600},
                         {9, 17, 0},
                         {0, 5, 4},
                         {5, 0, 4},
                         {1, 8, 0}})
    for (bool trans : {false, true}) {
      Case c;
      c.m = m, c.n = n, c.k = k, c.transA = c.transB = trans;
      check<float>(c);
    }
}

TEST(Gemm, LongChains) {
  for (int64_t k : {511, 512, 513, 1024, 1500})
    for (int layout = 0; layout < 4; ++layout) {
      Case c;
      c.m = 13, c.n = 37, c.k = k;
      c.transA = layout & 1, c.transB = layout & 2;
      check<float>(c);
    }
}

TEST(Gemm, Schedules) {
  for (int64_t k : {1100, 1028})
    for (bool atOnce : {false, true})
      for (auto pack : {Packing::None, Packing::Tile, Packing::Launch})
        for (bool other : {false, true}) {
          Case c;
          c.m = 29, c.n = other ? 83 : 88, c.k = k, c.samples = 300;
          c.transA = other;
          // A tile cannot pack a transposed chunk of four rows.
          c.transB = other && (pack != Packing::Tile || atOnce || k != 1028);
          c.change = [=](GemmPlan &plan) {
            plan.kBlock = atOnce ? k : 512, plan.columnsOuter = other;
            plan.streams = false;
            plan.packA = other, plan.packB = pack;
            plan.tileBlocks = 2, plan.tileColumns = 32;
            plan.splitTail = atOnce, plan.storeLoop = other;
            plan.prefetchB = 64, plan.prefetchC = true;
          };
          check<float>(c);
        }
}

TEST(Gemm, FewRows) {
  for (int64_t m : {1, 2, 4, 5, 9, 16})
    for (int layout = 0; layout < 4; ++layout) {
      Case c;
      c.batch = m == 2 ? 2 : 1, c.m = m, c.n = 331, c.k = 1003;
      c.transA = layout & 1, c.transB = layout & 2;
      c.fused = m == 9, c.heavy = m == 4;
      check<float>(c);
    }
}

TEST(Gemm, MiddleRows) {
  for (int layout = 0; layout < 4; ++layout) {
    Case c;
    c.m = 50, c.n = 331, c.k = 1003;
    c.transA = layout & 1, c.transB = layout & 2;
    check<float>(c);
    c.k = 515;
    check<double>(c);
  }
}

TEST(Gemm, LargeSampled) {
  Case c;
  c.m = c.n = c.k = 1000, c.samples = 2000;
  check<float>(c);
  c.transA = true;
  check<float>(c);
  c.transB = true;
  check<float>(c);
  c.m = 300, c.k = 77, c.n = 100;
  check<float>(c);
}

TEST(Gemm, Batches) {
  for (int shared = 0; shared < 3; ++shared)
    for (int layout = 0; layout < 4; ++layout) {
      Case c;
      c.batch = 3, c.m = 20, c.n = 21, c.k = 22;
      c.sharedA = shared == 1, c.sharedB = shared == 2;
      c.transA = layout & 1, c.transB = layout & 2;
      check<float>(c);
    }
}

/// Pairs of bf16 have the contract's bits, and where denormals may come up, the
/// instruction that flushes them is not used.
TEST(Gemm, Pairs) {
  std::mt19937 random(9);
  for (int least : {-4, -100, -104, -108, -120, -133})
    for (auto [m, n, k] : {std::array<int64_t, 3>{1, 1, 2},
                           {1, 40, 33},
                           {40, 1, 2},
                           {13, 37, 5},
                           {13, 37, 64},
                           {20, 19, 1027},
                           {7, 64, 1023},
                           {70, 24, 513}}) {
      Case c;
      c.m = m, c.n = n, c.k = k, c.leastExponent = least;
      c.transA = random() % 2, c.transB = random() % 2;
      c.cpu = random() % 4 ? "x86-64-v3" : "x86-64";
      check<float>(c);
    }
}

/// Sums whose last bit is 2^-126 and less, which is where they get denormal.
TEST(Gemm, PairsThatCancelOut) {
  for (int least = -106; least < -96; ++least)
    for (int64_t k : {2, 6}) {
      Case c;
      c.m = 3, c.n = 9, c.k = k, c.transA = c.transB = k == 6;
      c.leastExponent = least, c.cancels = true;
      check<float>(c);
    }
}

TEST(Gemm, PairsSchedules) {
  for (int least : {-4, -110})
    for (int64_t k : {1100, 1029})
      for (bool shared : {false, true}) {
        Case c; // Packed by a launch, or by tiles, in steps of k.
        c.batch = 2, c.sharedA = shared, c.sharedB = !shared;
        c.m = shared ? 310 : 64, c.n = 83, c.k = k, c.samples = 300;
        c.leastExponent = least;
        check<float>(c);
        c.transA = c.transB = true;
        check<float>(c);
        c.heavy = true;
        check<float>(c);
      }
}

TEST(Gemm, PairsUseTheInstruction) {
  Case c;
  c.m = c.n = c.k = 256, c.leastExponent = 0;
  auto emit = [&](const char *cpu) {
    return assembleGemm(cpu, [&](ModuleOp module, const TargetInfo &target) {
      return emitCase<float>(c, module, target);
    });
  };
  EXPECT_NE(emit("sapphirerapids").find("vdpbf16ps"), std::string::npos);
  EXPECT_NE(emit("znver4").find("vdpbf16ps"), std::string::npos);
  EXPECT_EQ(emit("icelake-server").find("vdpbf16ps"), std::string::npos);
  EXPECT_EQ(emit("x86-64-v4").find("vdpbf16ps"), std::string::npos);
}

template <typename T> void otherType() {
  for (int layout = 0; layout < 4; ++layout) {
    Case c;
    c.m = 33, c.n = 27, c.k = 600;
    c.transA = layout & 1, c.transB = layout & 2;
    check<T>(c);
  }
}
TEST(Gemm, Double) { otherType<double>(); }
TEST(Gemm, Int32) { otherType<int32_t>(); }
TEST(Gemm, Int64) { otherType<int64_t>(); }

TEST(Gemm, Baseline) {
  std::mt19937 random(8);
  for (int n = 0; n < 12; ++n) {
    Case c;
    c.cpu = "x86-64";
    c.m = 1 + random() % 40, c.n = 1 + random() % 40, c.k = 1 + random() % 800;
    c.transA = random() % 2, c.transB = random() % 2, c.fused = n % 3 == 0;
    check<float>(c);
  }
}

TEST(Gemm, Fused) {
  for (bool heavy : {false, true})
    for (int layout = 0; layout < 4; ++layout) {
      Case c;
      c.batch = 2, c.m = 33, c.n = 75, c.k = 530;
      c.transA = layout & 1, c.transB = layout & 2;
      c.fused = true, c.heavy = heavy;
      check<float>(c);
      c.n = 1;
      check<float>(c);
    }
}

} // namespace
