// Measures programs on a GPU, beside what the GPU can do: tessera-gpu-bench
// [--small] [--device=cuda:0]. Run by run.sh.
#include "bench/gpu/Bench.h"
#include "bench/gpu/CublasLt.h"
#include "runtime/cuda/Allocator.h"
#include "runtime/cuda/Stream.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>

using namespace tessera;
using namespace tessera::bench;
namespace cuda = tessera::runtime::cuda;
using Clock = std::chrono::steady_clock;

namespace {

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Floating-point operations of a multiprocessor in one cycle, from NVIDIA's
/// tables of arithmetic throughput: of f32, and of f16 with f32 sums on tensor
/// cores, without sparsity.
struct PerCycle {
  const char *arch;
  double f32, tensor;
};
constexpr PerCycle kPerCycle[] = {
    {"sm_75", 128, 1024},  {"sm_80", 128, 2048}, {"sm_86", 256, 1024},
    {"sm_89", 256, 1024},  {"sm_90", 256, 4096}, {"sm_100", 256, 8192},
    {"sm_120", 256, 1024},
};

class GpuBench {
public:
  GpuBench(cuda::Gpu &gpu, bool small) : gpu(gpu), small(small) {
    for (const PerCycle &row : kPerCycle)
      if (gpu.info().arch == row.arch) {
        double cycles =
            double(gpu.info().multiprocessors) * gpu.info().clockKHz * 1e3;
        f32Roof = row.f32 * cycles;
        tensorRoof = row.tensor * cycles;
      }
  }

  /// False if a program's bits are wrong.
  bool run() {
    const cuda::GpuInfo &info = gpu.info();
    std::printf("%s: %s, %s, %d multiprocessors at up to %d MHz, %zu MiB\n",
                gpu.str().c_str(), info.name.c_str(), info.arch.c_str(),
                info.multiprocessors, info.clockKHz / 1000,
                info.memoryBytes >> 20);
    Comparison comparison = compareWithCpu(Device(gpu.str()));
    std::printf("correctness: %zu of %d programs agree with the CPU\n",
                size_t(comparison.programs) - comparison.differences.size(),
                comparison.programs);
    for (const std::string &line : comparison.differences)
      std::printf("  differs: %s\n", line.c_str());
    std::fflush(stdout);
    std::printf("\n%-34s %12s %12s %8s\n", "", "time (us)", "rate", "of roof");
    copies();
    elementwise();
    reductions();
    products();
    calls();
    std::printf("\nThe roof of bytes is the copy's rate here; that of FLOP is "
                "multiprocessors x clock x\nwhat the architecture does in a "
                "cycle%s.\n",
                f32Roof > 0 ? "" : ", which is not known of this GPU");
    return comparison.differences.empty();
  }

private:
  /// Seconds of one of many calls that the GPU has in its queue.
  double measure(const std::function<void()> &call) {
    cuda::Stream &stream = gpu.stream();
    for (int i = 0; i < 2; ++i)
      call();
    stream.synchronize();
    Clock::time_point start = Clock::now();
    call();
    stream.synchronize();
    double once = std::max(secondsSince(start), 1e-6);
    int count = small ? 2 : int(std::clamp(0.05 / once, 3., 2000.));
    double best = 1e30;
    for (int round = 0; round < (small ? 1 : 5); ++round) {
      start = Clock::now();
      for (int i = 0; i < count; ++i)
        call();
      stream.synchronize();
      best = std::min(best, secondsSince(start) / count);
    }
    return best;
  }

  /// A line of the table; `work` is bytes or operations, 0 for neither.
  void row(const std::string &name, double seconds, double work,
           const char *unit, double roof) {
    double scale = std::string(unit) == "TFLOP/s" ? 1e-12 : 1e-9;
    std::printf("%-34s %12.2f", name.c_str(), seconds * 1e6);
    if (work > 0)
      std::printf(" %6.1f %s", work / seconds * scale, unit);
    if (work > 0 && roof > 0)
      std::printf(" %6.0f%%", 100 * work / seconds / roof);
    std::printf("\n");
    std::fflush(stdout);
  }

  /// Runs rows; one that fails is told, and the others go on.
  void guarded(const std::string &name, const std::function<void()> &body) {
    try {
      body();
    } catch (const std::exception &error) {
      std::printf("%-34s failed: %s\n", name.c_str(), error.what());
    }
  }

  void copies() {
    guarded("copy", [&] {
      size_t bytes = size_t(small ? 1 : 512) << 20;
      cuda::Memory from(gpu, bytes), to(gpu, bytes);
      gpu.stream().fill(from.get(), 1, bytes);
      double time =
          measure([&] { gpu.stream().copy(to.get(), from.get(), bytes); });
      memoryRoof = 2 * double(bytes) / time;
      row("copy of " + std::to_string(bytes >> 20) + " MiB on the GPU", time,
          2 * double(bytes), "GB/s", 0);
    });
  }

  using Function = std::function<Tensor(Tensor)>;

  /// A program over `elements` f32 of which it moves `bytes`.
  void memoryRow(const std::string &name, const Tensor &x, double bytes,
                 Function function) {
    guarded(name, [&] {
      auto program = jit(function);
      row(name, measure([&] { (void)program(x); }), bytes, "GB/s", memoryRoof);
    });
  }

  void elementwise() {
    int64_t n = small ? 1 << 14 : 1 << 26;
    Tensor x = random::normal(random::key(1), {n}).eval();
    double bytes = 4. * double(n);
    memoryRow("relu(x * 2 - 1)", x, 2 * bytes,
              [](Tensor x) { return relu(x * 2.f - 1.f); });
    memoryRow("tanh(x) * exp(-x * x)", x, 2 * bytes,
              [](Tensor x) { return tanh(x) * exp(-(x * x)); });
    Tensor half = x.astype(f16).eval();
    memoryRow("f16: relu(x * 2 - 1)", half, bytes,
              [](Tensor x) { return relu(x * 2.f - 1.f); });
  }

  void reductions() {
    int64_t rows = small ? 64 : 1 << 14, columns = small ? 100 : 4096;
    Tensor x = random::normal(random::key(2), {rows, columns}).eval();
    double bytes = 4. * double(rows * columns);
    memoryRow("sum of all", x, bytes, [](Tensor x) { return sum(x); });
    memoryRow("sums of rows", x, bytes, [](Tensor x) { return sum(x, {1}); });
    memoryRow("sums of columns", x, bytes,
              [](Tensor x) { return sum(x, {0}); });
    memoryRow("softmax of rows", x, 2 * bytes,
              [](Tensor x) { return softmax(x, -1); });
  }

  void products() {
    std::string why;
    {
      cuda::ContextScope current(gpu);
      if (!isEmulated())
        cublas = CublasLt::load(why);
      else
        why = "there is no GPU";
    }
    if (!cublas)
      std::printf("(products without cuBLASLt beside them: %s)\n", why.c_str());
    struct Kind {
      const char *name;
      DType type;
      CublasLt::Type other;
    };
    const Kind kinds[] = {{"f32", f32, CublasLt::Type::F32},
                          {"bf16", bf16, CublasLt::Type::BF16},
                          {"f16", f16, CublasLt::Type::F16}};
    std::vector<int64_t> sizes = {1024, 4096, 8192};
    if (small)
      sizes = {48};
    for (const Kind &kind : kinds)
      for (int64_t n : sizes)
        guarded(kind.name,
                [&] { product(kind.name, kind.type, kind.other, n); });
  }

  void product(const std::string &kind, DType type, CublasLt::Type other,
               int64_t n) {
    Tensor a = random::normal(random::key(3), {n, n}).astype(type).eval(),
           b = random::normal(random::key(4), {n, n}).astype(type).eval();
    double flops = 2. * double(n) * double(n) * double(n);
    double roof = type == f32 ? f32Roof : tensorRoof;
    std::string name = kind + " product of " + std::to_string(n);
    auto program = jit([](Tensor a, Tensor b) { return matmul(a, b); });
    double ours = measure([&] { (void)program(a, b); });
    row(name, ours, flops, "TFLOP/s", roof);
    if (!cublas)
      return;
    size_t bytes = size_t(n * n) * runtime::bytesOf(type),
           workspace = size_t(32) << 20;
    cuda::Memory x(gpu, bytes), y(gpu, bytes), z(gpu, bytes),
        scratch(gpu, workspace);
    cuda::ContextScope current(gpu);
    gpu.stream().fill(x.get(), 0, bytes);
    gpu.stream().fill(y.get(), 0, bytes);
    double theirs = measure([&] {
      cublas->multiply(other, n, n, n, x.get(), y.get(), z.get(), scratch.get(),
                       workspace, gpu.stream().get());
    });
    row("  by cuBLASLt", theirs, flops, "TFLOP/s", roof);
  }

  void calls() {
    guarded("calls", [&] {
      Tensor x = random::normal(random::key(5), {8}).eval();
      auto one = jit([](Tensor x) { return x + x; });
      row("a call of one small kernel", measure([&] { (void)one(x); }), 0, "",
          0);
      auto sixteen = jit([](Tensor x) {
        for (int i = 0; i < 16; ++i)
          x = x / sum(x);
        return x;
      });
      row("a call of a chain of 16 sums", measure([&] { (void)sixteen(x); }), 0,
          "", 0);
    });
    guarded("digits", [&] {
      TrainingStep step;
      row("a training step of the digits", measure([&] { (void)step(); }), 0,
          "", 0);
    });
  }

  bool isEmulated() const { return gpu.driver().addKernel; }

  cuda::Gpu &gpu;
  const bool small;
  double memoryRoof = 0, f32Roof = 0, tensorRoof = 0;
  std::unique_ptr<CublasLt> cublas;
};

} // namespace

int main(int argc, char **argv) {
  bool small = false;
  std::string device = "cuda:0";
  for (int i = 1; i < argc; ++i) {
    std::string flag = argv[i];
    if (flag == "--small") {
      small = true;
    } else if (flag.starts_with("--device=")) {
      device = flag.substr(9);
    } else {
      std::cerr << "tessera-gpu-bench: unknown flag " << flag
                << "; there are --small and --device=cuda:N\n";
      return 2;
    }
  }
  try {
    Device place(device);
    if (place.kind() != runtime::DeviceKind::Cuda) {
      std::cerr << "tessera-gpu-bench: " << device << " is no GPU\n";
      return 2;
    }
    set_default_device(place);
    return GpuBench(cuda::Gpu::at(place.ordinal()), small).run() ? 0 : 3;
  } catch (const std::exception &error) {
    std::cerr << "tessera-gpu-bench: " << error.what() << "\n";
    return 1;
  }
}
