// Prints how long each stage of compiling a small kernel takes: the first time
// in the process, and the median after.
#include "Compile.h"
#include "TemporaryFolder.h"
#include "lowering/CodeGen/PlanEntry.h"
#include "runtime/HostAbi.h"
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <map>

using namespace tessera;
using namespace tessera::lowering;
using namespace tessera::test;

namespace {

/// Processor time of this thread in milliseconds: a busy machine does not
/// change it much.
double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

struct Stages {
  std::map<std::string, std::vector<double>> times;
  std::vector<std::string> order;

  template <typename F> auto run(const std::string &name, F &&f) {
    if (!times.count(name))
      order.push_back(name);
    double start = now();
    auto result = f();
    times[name].push_back(now() - start);
    return result;
  }

  void print() {
    double first = 0, total = 0;
    for (const std::string &name : order) {
      std::vector<double> t = times[name];
      first += t[0];
      std::sort(t.begin(), t.end());
      total += t[t.size() / 2];
      std::printf("%-12s first %8.3f ms   median %8.3f ms   best %8.3f ms\n",
                  name.c_str(), times[name][0], t[t.size() / 2], t[0]);
    }
    std::printf("%-12s first %8.3f ms   median %8.3f ms\n\n", "all", first,
                total);
  }
};

void measure(
    const char *what, int rounds,
    llvm::function_ref<mlir::OwningOpRef<mlir::ModuleOp>(mlir::MLIRContext &)>
        build) {
  std::printf("%s\n", what);
  Stages s;
  TargetInfo target = s.run("target", [] { return hostTarget(); });
  for (int i = 0; i < rounds; ++i) {
    std::string id = std::string("_") + what + std::to_string(i);
    std::replace(id.begin(), id.end(), ' ', '_');
    auto context = s.run("context", [] { return kernelContext(); });
    auto module = s.run("build", [&] { return build(*context); });
    bool lowered = s.run("lower", [&] {
      return mlir::succeeded(lowerKernelModule(*module, target, {nullptr, id}));
    });
    if (!lowered)
      return;
    auto ir = s.run("translate",
                    [&] { return llvm::cantFail(translateToIR(*module)); });
    s.run("optimise",
          [&] { return (llvm::cantFail(optimize(ir, target)), 0); });
    auto object = s.run("codegen", [&] {
      return llvm::cantFail(emitObject(std::move(ir), target));
    });
    auto loaded =
        s.run("load", [&] { return llvm::cantFail(loadObject(object, id)); });
    s.run("unload", [&] { return (loaded.reset(), 0); });
    s.run("destroy", [&] { return (module = nullptr, context.reset(), 0); });
  }
  s.print();
}

using Entry = tessera_entry_fn;

/// Plans of `launches` launches of kernels that do nothing, with four buffers
/// each.
void measurePlan(size_t launches, int rounds) {
  std::printf("plan of %zu launches\n", launches);
  TargetInfo target = hostTarget();
  ObjectCache cache("");
  KernelCompileOptions options;
  options.target = target;
  options.cache = &cache;
  std::vector<KernelJob> jobs;
  for (size_t i = 0; i < std::min<size_t>(launches, 64); ++i)
    jobs.push_back({"nothing" + std::to_string(i), "nothing",
                    [](mlir::MLIRContext &context) {
                      return mlir::FailureOr(parseKernel(context, R"(
func.func @nothing(%a: memref<8xf32>, %b: memref<8xf32>, %c: memref<8xf32>, %d: memref<8xf32>, %begin: index, %end: index)
    attributes {tessera.launch = 1 : i64} { return })"));
                    }});
  auto kernels = llvm::cantFail(compileKernels(jobs, options));
  Stages s;
  for (int round = 0; round < rounds; ++round) {
    Plan plan;
    for (size_t i = 0; i < launches; ++i) {
      PlanLaunch launch{kernels[i % kernels.size()]->launches[0].symbol, 1, {}};
      for (int64_t b = 0; b < 4; ++b)
        launch.buffers.push_back({b % 2 ? BufferRef::Arena : BufferRef::Buffer,
                                  b, round * 64 + b * 64});
      plan.launches.push_back(launch);
    }
    auto compiled = s.run("compile+load", [&] {
      return llvm::cantFail(loadPlan(plan, kernels, target, &cache));
    });
    std::vector<char> memory(1 << 20);
    void *buffers[] = {memory.data(), memory.data(), memory.data(),
                       memory.data()};
    s.run("1000 calls", [&] {
      for (int i = 0; i < 1000; ++i)
        reinterpret_cast<Entry>(compiled.entry)(nullptr, buffers, nullptr,
                                                memory.data(), nullptr);
      return 0;
    });
  }
  std::vector<double> calls = s.times["1000 calls"];
  s.print();
  std::printf("%.1f ns a launch\n\n",
              *std::min_element(calls.begin(), calls.end()) * 1e3 / launches);
}

/// A program of different small kernels: cold, from disk, from memory.
void measureProgram(int count, unsigned threads) {
  std::printf("%d kernels, %u threads (time of the calling thread)\n", count,
              threads);
  TemporaryFolder folder;
  ObjectCache cache(folder.path);
  KernelCompileOptions options;
  options.target = hostTarget();
  options.cache = &cache;
  options.threads = threads;
  std::vector<KernelJob> jobs;
  for (int i = 0; i < count; ++i)
    jobs.push_back(
        {"add" + std::to_string(i), "add", [i](mlir::MLIRContext &context) {
           return mlir::FailureOr(addKernel(context, 1000 + i, 4, 8));
         }});
  Stages s;
  auto compile = [&] {
    return (llvm::cantFail(compileKernels(jobs, options)), 0);
  };
  s.run("cold", compile);
  s.run("memory", compile);
  cache.dropUnreferenced();
  s.run("disk", compile);
  s.print();
}

} // namespace

int main(int argc, char **argv) {
  int rounds = argc > 1 ? std::atoi(argv[1]) : 100;
  measure("add 1000", rounds, [](mlir::MLIRContext &context) {
    return addKernel(context, 1000, 4,
                     hostTarget().lanes(mlir::Float32Type::get(&context)));
  });
  measure("sum in two launches", rounds, [](mlir::MLIRContext &context) {
    return sumKernel(context, 1024, 8);
  });
  measurePlan(1, rounds);
  measurePlan(20, rounds);
  measurePlan(500, rounds);
  measureProgram(20, 1);
  measure("less", rounds,
          [](mlir::MLIRContext &context) { return lessKernel(context, 1000); });
}
