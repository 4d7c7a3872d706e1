// Measures reduction kernels against the speed of reading memory: reduce-bench
// [filter], one thread, best of many.
#include "KernelMaker.h"
#include "lowering/CodeGen/Target.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstdio>
#include <functional>
#include <immintrin.h>
#include <string>

using namespace mlir;
using namespace tessera::ir;
using namespace tessera::lowering;
using namespace tessera::test;

namespace {

volatile float sink;

/// Seconds for each case.
constexpr double duration = 2;

/// Reads `bytes` as fast as a plain loop can.
__attribute__((target("avx2"))) void readMemory(const void *data,
                                                size_t bytes) {
  auto *at = static_cast<const float *>(data);
  __m256 sums[8] = {};
  for (size_t i = 0; i + 64 <= bytes / 4; i += 64) {
    _mm_prefetch(reinterpret_cast<const char *>(at + i) + 2048, _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char *>(at + i) + 2112, _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char *>(at + i) + 2176, _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char *>(at + i) + 2240, _MM_HINT_T0);
    for (int v = 0; v < 8; ++v)
      sums[v] = _mm256_add_ps(sums[v], _mm256_loadu_ps(at + i + 8 * v));
  }
  for (__m256 sum : sums)
    sink = sink + sum[0];
}

/// 64-byte aligned memory in huge pages where there are any.
struct Memory {
  explicit Memory(size_t bytes)
      : data(std::aligned_alloc(2 << 20, (bytes + (4 << 20)) >> 21 << 21)) {
    std::memset(data, 0, (bytes + (4 << 20)) >> 21 << 21);
  }
  Memory(Memory &&other) : data(std::exchange(other.data, nullptr)) {}
  ~Memory() { std::free(data); }
  void *data;
};

struct Case {
  std::string name;
  std::function<void(KernelMaker &)> make;
  KernelKind kind;
};

void measure(const Case &test, const TargetInfo &target, bool onlyCompile) {
  KernelMaker k;
  test.make(k);
  KernelOp kernel = k.finish(test.kind);
  double compile = 1e9;
  std::optional<CompiledKernel> compiled;
  for (int i = 0; i < (onlyCompile ? 40 : 5); ++i) {
    compiled = compileKernel(kernel, target);
    compile = std::min(compile, compiled->milliseconds);
  }
  if (onlyCompile) {
    std::printf("%-28s compile %5.1f ms\n", test.name.c_str(), compile);
    return;
  }
  std::vector<Memory> memory;
  std::vector<void *> buffers;
  std::vector<size_t> sizes; // Of the inputs.
  size_t bytes = 0, inputBytes = 0;
  auto add = [&](size_t size) {
    memory.emplace_back(size);
    buffers.push_back(memory.back().data);
    bytes += size;
  };
  for (Value input : kernel.getInputs()) {
    Bytes data = randomTensor(tensorType(input), 1, false);
    add(data.size());
    sizes.push_back(data.size());
    std::memcpy(buffers.back(), data.data(), data.size());
  }
  inputBytes = bytes;
  for (int64_t size : compiled->outputBytes)
    add(size);
  add(compiled->workspaceBytes());
  double best = 1e9, roof = 1e9;
  auto timed = [&](auto fn) {
    double start = threadSeconds();
    fn();
    return threadSeconds() - start;
  };
  // Other programs share the memory: the two take turns, and the ratio is the
  // median of those of neighbours.
  int repeats = inputBytes > (1 << 20) ? 1 : 100;
  std::vector<double> ratios;
  for (double end = threadSeconds() + duration; threadSeconds() < end;) {
    double read = timed([&] {
      for (int i = 0; i < repeats; ++i)
        for (auto [buffer, size] : llvm::zip(buffers, sizes))
          readMemory(buffer, size);
    });
    double run = timed([&] {
      for (int i = 0; i < repeats; ++i)
        compiled->runOn(buffers.data());
    });
    ratios.push_back(read / run);
    roof = std::min(roof, read);
    best = std::min(best, run);
  }
  std::nth_element(ratios.begin(), ratios.begin() + ratios.size() / 2,
                   ratios.end());
  std::printf("%-28s %9.1f us %6.2f GB/s, reading %6.2f GB/s, ratio of the "
              "best %5.2f, median %5.2f, compile %5.1f ms\n",
              test.name.c_str(), best / repeats * 1e6,
              inputBytes * repeats / best * 1e-9,
              inputBytes * repeats / roof * 1e-9, roof / best,
              ratios[ratios.size() / 2], compile);
  std::fflush(stdout);
}

Expr softmax(Expr x) {
  int64_t dim = x.type().getRank() - 1;
  Expr e = exp(x - expand(reduce(Reduction::max, x, dim), x.type(), dim));
  return e / expand(reduce(Reduction::sum, e, dim), x.type(), dim);
}

void layerNorm(KernelMaker &k, int64_t rows, int64_t cols) {
  Expr x = k.input({rows, cols}), weight = k.input({cols}),
       bias = k.input({cols});
  Expr centred =
      x - expand(reduce(Reduction::sum, x, 1) * (1.0 / cols), x.type(), 1);
  Expr variance = reduce(Reduction::sum, centred * centred, 1) * (1.0 / cols);
  Expr scale = x.with(RsqrtOp::create(k.at(), k.loc(), variance.type(),
                                      (variance + 1e-5).value()));
  k.output(centred * expand(scale, x.type(), 1) * expand(weight, x.type(), 0) +
           expand(bias, x.type(), 0));
}

void crossEntropy(KernelMaker &k, int64_t rows, int64_t cols) {
  Expr x = k.input({rows, cols}), labels = k.input({rows}, k.i64());
  Expr shifted = x - expand(reduce(Reduction::max, x, 1), x.type(), 1);
  Expr e = exp(shifted);
  Expr total = reduce(Reduction::sum, e, 1);
  auto positions = x.type().clone(k.i64());
  Expr isLabel = x.with(IotaOp::create(k.at(), k.loc(), positions, 1)) ==
                 expand(labels, positions, 1);
  Expr logits = shifted - expand(log(total), x.type(), 1);
  k.output(
      -reduce(Reduction::sum, select(isLabel, logits, logits.full(-0.0)), 1));
  k.output(e / expand(total, x.type(), 1) - convert(isLabel, k.f32()));
}

std::vector<Case> allCases() {
  std::vector<Case> cases;
  auto reduction = [&](Reduction reduction, SmallVector<int64_t> shape,
                       SmallVector<int64_t> dims, KernelKind kind,
                       unsigned width = 32) {
    std::string name =
        stringifyReduction(reduction).str() + (width == 64 ? " f64" : "");
    for (int64_t size : shape)
      name += " " + std::to_string(size);
    name += " over";
    for (int64_t dim : dims)
      name += " " + std::to_string(dim);
    cases.push_back(
        {name,
         [=](KernelMaker &k) {
           k.output(reduce(reduction,
                           k.input(shape, width == 64 ? k.f64() : k.f32()),
                           dims));
         },
         kind});
  };
  auto rows = KernelKind::row_reduce, columns = KernelKind::col_reduce;
  for (auto [m, n] : {std::pair<int64_t, int64_t>{4096, 4096},
                      {16384, 1024},
                      {65536, 256},
                      {1 << 20, 16},
                      {1677721, 10},
                      {1 << 22, 4},
                      {256, 65536}})
    reduction(Reduction::sum, {m, n}, {1}, rows);
  reduction(Reduction::sum, {8192, 1000}, {1}, rows, 64);
  for (Reduction kind : {Reduction::max, Reduction::argmax, Reduction::prod})
    for (auto [m, n] : {std::pair<int64_t, int64_t>{4096, 4096}, {64, 1024}})
      reduction(kind, {m, n}, {1}, rows);
  reduction(Reduction::sum, {64, 1024}, {1}, rows);
  for (auto [m, n] : {std::pair<int64_t, int64_t>{4096, 4096},
                      {16384, 1024},
                      {65536, 256},
                      {1 << 20, 16},
                      {1677721, 10},
                      {256, 65536},
                      {32, 512 * 1024},
                      {1024, 64},
                      {128, 10}})
    reduction(Reduction::sum, {m, n}, {0}, columns);
  for (Reduction kind : {Reduction::max, Reduction::argmax})
    reduction(kind, {4096, 4096}, {0}, columns);
  reduction(Reduction::sum, {4096, 4096}, {0}, columns, 64);
  reduction(Reduction::sum, {4096, 4096}, {0, 1}, columns);
  reduction(Reduction::max, {4096, 4096}, {0, 1}, columns);
  reduction(Reduction::sum, {1000, 10}, {0, 1}, columns);
  reduction(Reduction::sum, {32, 256, 56, 56}, {0, 2, 3}, columns);
  reduction(Reduction::sum, {128, 512, 14, 14}, {0, 2, 3}, columns);
  reduction(Reduction::sum, {512, 512, 7, 7}, {0, 2, 3}, columns);
  reduction(Reduction::sum, {64, 512, 512}, {1}, columns);
  auto add = [&](std::string name, KernelKind kind,
                 std::function<void(KernelMaker &)> make) {
    cases.push_back({std::move(name), std::move(make), kind});
  };
  for (auto [m, n] : {std::pair<int64_t, int64_t>{4096, 1024},
                      {1024, 1024},
                      {128, 10},
                      {1024, 50257},
                      {4096, 100}})
    add("softmax " + std::to_string(m) + " " + std::to_string(n), rows,
        [m = m, n = n](KernelMaker &k) { k.output(softmax(k.input({m, n}))); });
  for (auto [m, n] : {std::pair<int64_t, int64_t>{8192, 768}, {512, 768}})
    add("layer norm " + std::to_string(m) + " " + std::to_string(n), rows,
        [m = m, n = n](KernelMaker &k) { layerNorm(k, m, n); });
  for (auto [m, n] : {std::pair<int64_t, int64_t>{4096, 1000}, {128, 10}})
    add("cross entropy " + std::to_string(m) + " " + std::to_string(n), rows,
        [m = m, n = n](KernelMaker &k) { crossEntropy(k, m, n); });
  add("mean square 4096 4096", columns, [](KernelMaker &k) {
    Expr d = k.input({4096, 4096}) - k.input({4096, 4096});
    k.output(reduce(Reduction::sum, d * d, {0, 1}) * (1.0 / 4096 / 4096));
  });
  add("bias gradient 16384 1024", columns, [](KernelMaker &k) {
    Expr x = k.input({16384, 1024}), y = k.input({16384, 1024});
    k.output(reduce(Reduction::sum, select(y > 0.0, x, x.zero()), 0));
  });
  return cases;
}

} // namespace

/// reduce-bench [-c|-l|-i|-s] [filter]: -c measures the compilation alone, -l,
/// -i and -s print the loops, the LLVM IR or the assembly.
int main(int argc, char **argv) {
  StringRef option = argc > 1 && argv[1][0] == '-' ? argv[1] : "";
  int next = 1 + !option.empty();
  StringRef filter = argc > next ? argv[next] : "";
  TargetInfo target = argc > next + 1
                          ? llvm::cantFail(targetFor(argv[next + 1]))
                          : hostTarget();
  for (const Case &test : allCases()) {
    if (!StringRef(test.name).contains(filter))
      continue;
    if (option.empty() || option == "-c") {
      measure(test, target, option == "-c");
      continue;
    }
    KernelMaker k;
    test.make(k);
    KernelOp kernel = k.finish(test.kind);
    llvm::outs() << (option == "-l"   ? kernelLoops(kernel, target)
                     : option == "-i" ? kernelIR(kernel, target)
                                      : kernelAssembly(kernel, target));
  }
}
