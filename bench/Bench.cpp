// Times this library on the rows of rows.json: tessera-bench THREADS OUT.json
// [REGEX]. Each call makes its result, as a user's call does. `tessera-bench
// --first` makes one training step and prints how long it took.
#include "bench/Training.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <string_view>
#include <unistd.h>

using namespace tessera;
using tessera::bench::Mlp;
using tessera::bench::TrainingStep;
using Clock = std::chrono::steady_clock;

namespace {

double milliseconds(Clock::time_point since) {
  return std::chrono::duration<double, std::milli>(Clock::now() - since)
      .count();
}

struct Measured {
  std::string row;
  double first, each;
};

/// The median of many samples, each of calls that take about 2 ms together.
Measured measure(const std::string &row, const std::function<void()> &call) {
  Clock::time_point start = Clock::now();
  call();
  double first = milliseconds(start);
  for (int i = 0; i < 3; ++i)
    call();
  start = Clock::now();
  call();
  double once = std::max(milliseconds(start), 1e-6);
  auto batch = size_t(std::clamp(2 / once, 1., 100000.));
  std::vector<double> samples;
  start = Clock::now();
  while (samples.size() < 7 ||
         (milliseconds(start) < 1500 && samples.size() < 200)) {
    Clock::time_point begin = Clock::now();
    for (size_t i = 0; i < batch; ++i)
      call();
    samples.push_back(milliseconds(begin) / double(batch));
  }
  std::nth_element(samples.begin(), samples.begin() + samples.size() / 2,
                   samples.end());
  return {row, first, samples[samples.size() / 2]};
}

Tensor random(const Shape &shape, DType dtype = f32) {
  return random::normal(random::next_key(), shape).astype(dtype).eval();
}

/// Steps of relu(x - b) and x * b + 0.5 in turn.
Tensor chain(Tensor x, const Tensor &b, int steps) {
  for (int i = 0; i < steps; ++i)
    x = i % 2 ? x * b + 0.5f : relu(x - b);
  return x;
}

/// Prints the milliseconds of a step's first call.
void firstCall() {
  TrainingStep step({.threads = 2});
  Clock::time_point start = Clock::now();
  step();
  std::printf("%.3f\n", milliseconds(start));
}

/// A program that `tessera`, from beside this program, has compiled to a shared
/// library.
class AheadOfTime {
public:
  AheadOfTime(const std::string &folder, const std::string &name) {
    std::string tool =
        std::filesystem::read_symlink("/proc/self/exe").parent_path() /
        "tessera";
    std::string path = folder + "/" + name;
    std::string command =
        tool + " compile " + path + ".mlir -o " + path + ".so --name=" + name;
    if (std::system(command.c_str()) != 0)
      throw std::runtime_error(command + " failed");
    void *library = dlopen((path + ".so").c_str(), RTLD_NOW);
    if (library)
      function = reinterpret_cast<Function>(dlsym(library, name.c_str()));
    if (!function)
      throw std::runtime_error(dlerror());
  }
  /// `fields` are the program's struct.
  void operator()(void *const *fields) {
    if (int code = function(fields, arena, nullptr))
      throw std::runtime_error("the object gives " + std::to_string(code));
  }

private:
  using Function = int (*)(void *const *, void *, const void *);
  Function function = nullptr;
  alignas(64) std::byte arena[1 << 16] = {};
};

class Bench {
public:
  Bench(int threads, std::regex filter)
      : options{.threads = threads}, filter(std::move(filter)) {}

  void run() {
    training();
    recording();
    calls();
    elementwise();
    reductions();
    products();
    narrow();
    inference();
    ahead();
  }

  std::vector<Measured> results;

private:
  bool wanted(const std::string &row) { return std::regex_search(row, filter); }

  template <typename F, typename... Shapes>
  void row(const std::string &name, F f, Shapes... shapes) {
    row(name, f32, f, shapes...);
  }

  template <typename F, typename... Shapes>
  void row(const std::string &name, DType dtype, F f, Shapes... shapes) {
    if (!wanted(name))
      return;
    auto compiled = jit(f, options);
    std::tuple arguments{random(shapes, dtype)...};
    results.push_back(measure(name, [&] { std::apply(compiled, arguments); }));
    std::printf("%-28s %12.6f ms, first call %8.2f ms\n", name.c_str(),
                results.back().each, results.back().first);
    std::fflush(stdout);
  }

  void training() {
    const char *name = "train/mlp-64-256-256-10-b128";
    if (!wanted(name))
      return;
    TrainingStep step(options);
    results.push_back(measure(name, [&] { step(); }));
    std::printf("%-28s %12.6f ms, first call %8.2f ms\n", name,
                results.back().each, results.back().first);
  }

  void recording() {
    if (!wanted("record/add"))
      return;
    Tensor a = random({8}), b = random({8});
    results.push_back(measure("record/add", [&] { Tensor c = a + b; }));
    std::printf("%-28s %12.6f ms\n", "record/add", results.back().each);
  }

  void calls() {
    row(
        "call/add-8", [](Tensor a, Tensor b) { return a + b; }, Shape{8},
        Shape{8});
    row(
        "call/mul-add-4in-8",
        [](Tensor a, Tensor b, Tensor c, Tensor d) { return (a * b + c) * d; },
        Shape{8}, Shape{8}, Shape{8}, Shape{8});
  }

  void elementwise() {
    for (auto [tag, size] : {std::pair("64KiB", int64_t(1) << 14),
                             std::pair("1MiB", int64_t(1) << 18),
                             std::pair("64MiB", int64_t(1) << 24)})
      for (int steps : {1, 10})
        if (steps == 10 || size == 1 << 24)
          row(
              "chain" + std::to_string(steps) + "/" + tag,
              [steps](Tensor a, Tensor b) { return chain(a, b, steps); },
              Shape{size}, Shape{size});
    row(
        "softmax/4096x1024", [](Tensor x) { return softmax(x, -1); },
        Shape{4096, 1024});
  }

  void reductions() {
    row("sum-rows", [](Tensor x) { return sum(x, 1); }, Shape{4096, 4096});
    row("sum-cols", [](Tensor x) { return sum(x, 0); }, Shape{4096, 4096});
    row("sum-all", [](Tensor x) { return sum(x); }, Shape{1 << 24});
  }

  void products() {
    auto product = [](Tensor a, Tensor b) { return matmul(a, b); };
    for (int64_t n : {64, 512, 1024})
      row("gemm/" + std::to_string(n), product, Shape{n, n}, Shape{n, n});
    row("gemm/128x768x768", product, Shape{128, 768}, Shape{768, 768});
  }

  void narrow() {
    for (auto [tag, dtype] : {std::pair("f16", f16), std::pair("bf16", bf16)}) {
      std::string suffix = std::string("-") + tag;
      row(
          "chain10" + suffix + "/1MiB", dtype,
          [](Tensor a, Tensor b) { return chain(a, b, 10); }, Shape{1 << 19},
          Shape{1 << 19});
      row(
          "softmax" + suffix + "/4096x1024", dtype,
          [](Tensor x) { return softmax(x, -1); }, Shape{4096, 1024});
      row(
          "gemm" + suffix + "/512", dtype,
          [](Tensor a, Tensor b) { return matmul(a, b); }, Shape{512, 512},
          Shape{512, 512});
    }
  }

  void inference() {
    Mlp model;
    row(
        "infer/mlp-64-256-256-10-b1", [&](Tensor x) { return model(x); },
        Shape{1, 64});
  }

  void ahead() {
    const char *mlp = "aot/mlp-64-256-256-10-b1", *add = "aot/add-8";
    if (!wanted(mlp) && !wanted(add))
      return;
    std::string folder = std::filesystem::temp_directory_path() /
                         ("tessera-bench-" + std::to_string(getpid()));
    std::filesystem::create_directory(folder);
    export_program(folder + "/mlp.mlir", Mlp(), random({1, 64}));
    export_program(
        folder + "/add.mlir", [](Tensor a, Tensor b) { return a + b; },
        random({8}), random({8}));
    std::vector<float> x(64, 0.5f), y(8), z(10);
    void *mlpFields[] = {x.data(), z.data()};
    void *addFields[] = {x.data(), x.data() + 8, y.data()};
    for (auto [name, program, fields] :
         {std::tuple(mlp, "mlp", mlpFields), std::tuple(add, "add", addFields)})
      if (wanted(name)) {
        AheadOfTime object(folder, program);
        results.push_back(measure(name, [&] { object(fields); }));
        std::printf("%-28s %12.6f ms\n", name, results.back().each);
      }
    std::filesystem::remove_all(folder);
  }

  JitOptions options;
  std::regex filter;
};

} // namespace

int main(int argc, char **argv) {
  bool first = argc == 2 && std::string_view(argv[1]) == "--first";
  if (argc < 3 && !first) {
    std::fprintf(stderr, "usage: tessera-bench THREADS OUT.json [REGEX]\n"
                         "       tessera-bench --first\n");
    return 2;
  }
  try {
    if (first) {
      firstCall();
      return 0;
    }
    int threads = std::atoi(argv[1]);
    Bench bench(threads, std::regex(argc > 3 ? argv[3] : ""));
    bench.run();
    std::ofstream out(argv[2]);
    out << "[";
    for (size_t i = 0; i < bench.results.size(); ++i) {
      const Measured &m = bench.results[i];
      out << (i ? ",\n " : "\n ") << "{\"row\": \"" << m.row
          << "\", \"threads\": " << threads << ", \"ours_ms\": " << m.each
          << ", \"first_ms\": " << m.first << "}";
    }
    out << "\n]\n";
    return out ? 0 : 1;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "tessera-bench: %s\n", error.what());
    return 1;
  }
}
