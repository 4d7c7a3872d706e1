// Every f32 operand of a math function against the C library, or the speed of
// all functions. Not part of the suite.
//   math-sweep OP [CPU]      the largest error over all operands, the negative
//   ones only where the function is neither
//                            odd nor even nor NaN there (powf: 2^31 random
//                            pairs)
//   math-sweep speed [CPU]   nanoseconds an element, operations of the
//   expansion, milliseconds to compile a loop
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

static void sweep(const std::string &op, const TargetInfo &target) {
  MathKernelSpec spec{op, "f32", 8};
  MathKernel kernel = compileMath(spec, target);
  FastReference reference = fastReferenceOf(op);
  std::vector<float> x(kMaxElements), y(kMaxElements), out(kMaxElements);
  std::mt19937_64 random(1);
  double worst = 0;
  float worstX = 0, worstY = 0;
  bool bothSigns =
      op == "exp" || op == "exp2" || op == "expm1" || op == "log1p";
  for (uint64_t block = 0;
       block < (uint64_t(1) << (bothSigns ? 32 : 31)) / kMaxElements; ++block) {
    for (uint32_t i = 0; i < kMaxElements; ++i) {
      x[i] = __builtin_bit_cast(float, uint32_t(block * kMaxElements + i));
      if (spec.isBinary()) {
        x[i] = std::abs(__builtin_bit_cast(float, uint32_t(random())));
        y[i] =
            float(double(int32_t(random())) * 0x1p-31 * 152 / std::log2(x[i]));
      }
    }
    kernel.run(x.data(), y.data(), out.data(), kMaxElements);
    for (uint32_t i = 0; i < kMaxElements; ++i) {
      double want = reference(x[i], y[i]);
      if (out[i] == float(want) && want != 0) // half a unit at most
        continue;
      double error = ulpError(out[i], want);
      if (error > worst)
        worst = error, worstX = x[i], worstY = y[i];
    }
  }
  std::printf("%-6s f32: %.4f ULP at %a %a\n", op.c_str(), worst, worstX,
              worstY);
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
  std::string what = argc > 1 ? argv[1] : "speed";
  TargetInfo target =
      argc > 2 ? llvm::cantFail(targetFor(argv[2])) : hostTarget();
  if (what != "speed") {
    sweep(what, target);
    return 0;
  }
  for (const char *op :
       {"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "tanh",
        "rsqrt", "erf", "sin", "cos", "powf"}) {
    speed<float>(op, "f32", target);
    speed<double>(op, "f64", target);
  }
  return 0;
}
