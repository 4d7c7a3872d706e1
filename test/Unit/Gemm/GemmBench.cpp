// A C interface to compiled Gemms, for scripts that time them beside others.
#include "GemmJit.h"
#include <cstdlib>
#include <sys/mman.h>

using namespace mlir;
using namespace tessera::lowering;
using namespace tessera::lowering::cpu;
using namespace tessera::test;
namespace {

struct Bench {
  CompiledGemm gemm;
  void *workspace = nullptr;
};

Type elementNamed(MLIRContext *context, const char *name) {
  OpBuilder b(context);
  return std::string(name) == "f64" ? Type(b.getF64Type())
                                    : Type(b.getF32Type());
}

/// Replaces fields of the schedule by "field=value,field=value".
void edit(GemmPlan &plan, llvm::StringRef changes) {
  SmallVector<llvm::StringRef> parts;
  changes.split(parts, ',', -1, false);
  for (llvm::StringRef part : parts) {
    auto [name, text] = part.split('=');
    int64_t value = 0;
    text.getAsInteger(10, value);
    if (name == "packA")
      plan.packA = value;
    else if (name == "packB")
      plan.packB = Packing(value);
    else if (name == "prefetchB")
      plan.prefetchB = value;
    else if (name == "streams")
      plan.streams = value;
    else if (name == "prefetchC")
      plan.prefetchC = value;
    else if (name == "kBlock")
      plan.kBlock = value;
    else if (name == "tileBlocks")
      plan.tileBlocks = value;
    else if (name == "tileColumns")
      plan.tileColumns = value;
    else if (name == "vectors")
      plan.vectors = value;
    else if (name == "columnsOuter")
      plan.columnsOuter = value;
    else if (name == "splitTail")
      plan.splitTail = value;
    else if (name == "storeLoop")
      plan.storeLoop = value;
    else if (name == "rows") {
      int64_t m = plan.rowBlocks * (plan.tallRows - 1) + plan.tallBlocks;
      plan.rowBlocks = (m + value - 1) / value;
      plan.tallRows = (m + plan.rowBlocks - 1) / plan.rowBlocks;
      plan.tallBlocks = m - plan.rowBlocks * (plan.tallRows - 1);
    }
  }
}

GemmShape shapeOf(MLIRContext *context, const char *element, int64_t batch,
                  int64_t m, int64_t n, int64_t k, int layout) {
  return {batch,
          m,
          n,
          k,
          bool(layout & 1),
          bool(layout & 2),
          bool(layout & 4),
          bool(layout & 8),
          elementNamed(context, element)};
}

int64_t emit(ModuleOp module, const TargetInfo &cpu, const GemmShape &s,
             const char *changes) {
  Location loc = module.getLoc();
  GemmTarget target = factsOf(cpu);
  GemmKernel kernel;
  kernel.name = "gemm";
  kernel.shape = s;
  kernel.buffers = {
      MemRefType::get({s.sharedA ? 1 : s.batch, s.m, s.k}, s.element),
      MemRefType::get({s.sharedB ? 1 : s.batch, s.k, s.n}, s.element),
      MemRefType::get({s.batch, s.m, s.n}, s.element)};
  kernel.a.buffer = 0;
  kernel.b.buffer = 1;
  kernel.store = storeTo(2, s);
  kernel.result = 2;
  if (!*changes)
    return emitGemm(module, loc, kernel, target);
  GemmPlan plan = planGemm(s, target, false, false, false);
  edit(plan, changes);
  return emitGemm(module, loc, kernel, target, plan);
}

} // namespace

extern "C" {

/// Compiles a product; `layout` has bits for A^T, B^T, shared A and shared B.
/// `times` gets four times in milliseconds.
void *gemm_make(const char *element, int64_t batch, int64_t m, int64_t n,
                int64_t k, int layout, const char *changes, double *times) {
  auto *bench = new Bench;
  bench->gemm = compileGemm("", [&](ModuleOp module, const TargetInfo &cpu) {
    GemmShape s = shapeOf(module.getContext(), element, batch, m, n, k, layout);
    return emit(module, cpu, s, changes);
  });
  const CompileTimes &t = bench->gemm.times;
  double all[] = {t.emit, t.lower, t.optimize, t.codegen};
  std::copy(std::begin(all), std::end(all), times);
  // Huge pages, as the runtime's allocator asks for.
  constexpr int64_t kHuge = 2 << 20;
  int64_t bytes = bench->gemm.workspaceBytes / kHuge * kHuge + kHuge;
  bench->workspace = std::aligned_alloc(kHuge, bytes);
  madvise(bench->workspace, bytes, MADV_HUGEPAGE);
  return bench;
}

/// Seconds a call, over `count` calls.
double gemm_time(void *handle, void *a, void *b, void *c, int64_t count) {
  auto *bench = static_cast<Bench *>(handle);
  void *buffers[] = {a, b, c, bench->workspace};
  double start = threadSeconds();
  for (int64_t n = 0; n < count; ++n)
    bench->gemm.run(buffers);
  return (threadSeconds() - start) / count;
}

/// Seconds of one launch.
double gemm_time_launch(void *handle, void *a, void *b, void *c, int launch,
                        int64_t count) {
  auto *bench = static_cast<Bench *>(handle);
  void *buffers[] = {a, b, c, bench->workspace};
  const auto &l = bench->gemm.launches[launch];
  double start = threadSeconds();
  for (int64_t n = 0; n < count; ++n)
    l.function(buffers, 0, l.tiles);
  return (threadSeconds() - start) / count;
}

/// Prints the assembly for a CPU.
void gemm_print(const char *cpu, int64_t batch, int64_t m, int64_t n, int64_t k,
                int layout, const char *changes) {
  std::string text =
      assembleGemm(cpu, [&](ModuleOp module, const TargetInfo &target) {
        GemmShape s =
            shapeOf(module.getContext(), "f32", batch, m, n, k, layout);
        return emit(module, target, s, changes);
      });
  fputs(text.c_str(), stdout);
  fflush(stdout);
}

int64_t gemm_tiles(void *handle) {
  return static_cast<Bench *>(handle)->gemm.launches.back().tiles;
}

void gemm_free(void *handle) {
  auto *bench = static_cast<Bench *>(handle);
  std::free(bench->workspace);
  delete bench;
}
}
