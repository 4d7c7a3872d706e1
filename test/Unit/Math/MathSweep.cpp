// Math functions against the C library on more operands than a test can try,
// and their speed. Not part of the suite.
//   math-sweep OP f32 [CPU]  The largest error over all operands; for functions
//                            that are plain outside of 2^-14 to 2^8, one block
//                            in 16 there. Negative ones are left out where the
//                            function is odd, even or NaN. powf: random pairs.
//   math-sweep OP f64 [CPU]  The same over 2^25 random operands.
//   math-sweep speed [CPU]   Nanoseconds an element, operations of the
//                            expansion, milliseconds to compile a loop.
#include "MathKernel.h"
#include "Oracle.h"
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <random>
#include <vector>

using namespace tessera::lowering;
using namespace tessera::test;

/// Operands for one call of a kernel.
template <typename T> struct Block {
  std::vector<T> x = std::vector<T>(kMaxElements), y = x;
};

/// An exponent for which x^y is somewhere in the whole range.
template <typename T> static T exponentFor(T x, std::mt19937_64 &random) {
  double range = std::numeric_limits<T>::max_exponent + 60;
  return T(double(int64_t(random())) * 0x1p-63 * range / std::log2(x));
}

static void fill(Block<float> &block, uint64_t index, bool binary,
                 std::mt19937_64 &random) {
  for (uint32_t i = 0; i < kMaxElements; ++i) {
    block.x[i] = __builtin_bit_cast(float, uint32_t(index * kMaxElements + i));
    if (binary)
      block.y[i] = exponentFor(block.x[i], random);
  }
}

/// Half of the operands lie between 2^-4 and 2^4, where the expansions change
/// from one formula to another, a quarter have any exponent.
static void fill(Block<double> &block, uint64_t, bool binary,
                 std::mt19937_64 &random) {
  for (uint32_t i = 0; i < kMaxElements; ++i) {
    uint64_t bits = random();
    if (i % 4) {
      uint64_t spread = i % 2 ? 8 : 24;
      uint64_t exponent = 1023 - spread / 2 + random() % spread;
      bits = (bits & 0x800fffffffffffff) | exponent << 52;
    }
    block.x[i] = __builtin_bit_cast(double, bits);
    if (binary) {
      block.x[i] = std::abs(block.x[i]);
      block.y[i] = exponentFor(block.x[i], random);
    }
  }
}

/// Whether the f32 operands of this block are worth trying all.
static bool isDense(const std::string &op, uint64_t index) {
  uint64_t exponent = (index * kMaxElements >> 23) & 0xff;
  bool everywhere = op == "sin" || op == "cos" || op.starts_with("log");
  return everywhere || (exponent >= 127 - 14 && exponent < 127 + 8);
}

template <typename T, typename Reference>
static void sweep(const MathKernelSpec &spec, const TargetInfo &target,
                  uint64_t operands, Reference reference) {
  MathKernel kernel = compileMath(spec, target);
  Block<T> in;
  std::vector<T> out(kMaxElements);
  std::mt19937_64 random(1);
  double worst = 0;
  T worstX = 0, worstY = 0;
  for (uint64_t index = 0; index < operands / kMaxElements; ++index) {
    if (sizeof(T) == 4 && index % 16 && !isDense(spec.op, index))
      continue;
    fill(in, index, spec.isBinary(), random);
    kernel.run(in.x.data(), in.y.data(), out.data(), kMaxElements);
    for (uint32_t i = 0; i < kMaxElements; ++i) {
      auto want = reference(in.x[i], in.y[i]);
      if (out[i] == T(want) && want != 0 && worst > 0.5)
        continue; // half a unit at most
      double error = ulpError(out[i], want);
      if (error > worst)
        worst = error, worstX = in.x[i], worstY = in.y[i];
    }
  }
  std::printf("%-6s %s: %.4f ULP at %a %a\n", spec.op.c_str(),
              spec.element.c_str(), worst, worstX, worstY);
}

template <typename T>
static void speed(const std::string &op, const char *element,
                  const TargetInfo &target) {
  constexpr int64_t n = 4096;
  MathKernelSpec spec{op, element,
                      target.hasAVX512 ? 64 / int64_t(sizeof(T)) : 8};
  using Clock = std::chrono::steady_clock;
  double compile = 1e9;
  MathKernel kernel;
  for (int repeat = 0; repeat < 5; ++repeat) {
    std::clock_t start = std::clock();
    kernel = compileMath(spec, target);
    compile =
        std::min(compile, 1e3 * double(std::clock() - start) / CLOCKS_PER_SEC);
  }
  std::vector<T> x(n), y(n, T(1.7)), out(n);
  for (int64_t i = 0; i < n; ++i)
    x[i] = T(0.01 + i * 0.002);
  double best = 1e9;
  for (int repeat = 0; repeat < 200; ++repeat) {
    auto start = Clock::now();
    for (int i = 0; i < 10; ++i)
      kernel.run(x.data(), y.data(), out.data(), n);
    std::chrono::duration<double, std::nano> time = Clock::now() - start;
    best = std::min(best, time.count() / (10 * n));
  }
  std::printf(
      "%-9s %s: %6.3f ns/element, %4lld operations, %5.1f ms to compile\n",
      op.c_str(), element, best, (long long)countExpandedOps(spec, target),
      compile);
}

int main(int argc, char **argv) {
  std::string op = argc > 1 ? argv[1] : "speed";
  const char *cpu = argc > 3 ? argv[3] : nullptr;
  if (op == "speed")
    cpu = argc > 2 ? argv[2] : nullptr;
  TargetInfo target = cpu ? llvm::cantFail(targetFor(cpu)) : hostTarget();
  if (op != "speed" && argc > 2 && std::string(argv[2]) == "f64") {
    sweep<double>({op, "f64", 8}, target, uint64_t(1) << 25, referenceOf(op));
    return 0;
  }
  if (op != "speed") {
    bool bothSigns =
        op == "exp" || op == "exp2" || op == "expm1" || op == "log1p";
    sweep<float>({op, "f32", 8}, target, uint64_t(1) << (bothSigns ? 32 : 31),
                 fastReferenceOf(op));
    return 0;
  }
  for (const char *name :
       {"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "tanh",
        "rsqrt", "erf", "sin", "cos", "powf"}) {
    speed<float>(name, "f32", target);
    speed<double>(name, "f64", target);
  }
  return 0;
}
