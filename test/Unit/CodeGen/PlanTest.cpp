// Plan entries: order, pointers, host and no host, floating-point environment.
#include "KernelModules.h"
#include "TemporaryFolder.h"
#include "lowering/CodeGen/PlanEntry.h"
#include "runtime/HostAbi.h"
#include "gtest/gtest.h"
#include <numeric>
#include <xmmintrin.h>

using namespace tessera::lowering;
using namespace tessera::test;

namespace {

using Entry = tessera_entry_fn;

struct PlanTest : ::testing::Test {
  TemporaryFolder folder;
  ObjectCache cache{folder.path};
  KernelCompileOptions options;
  std::vector<std::shared_ptr<const CompiledObject>> kernels;

  PlanTest() {
    options.target = hostTarget();
    options.cache = &cache;
    KernelJob add{"add", "add", [](mlir::MLIRContext &context) {
                    return mlir::FailureOr(addKernel(context, 64, 4, 4));
                  }};
    KernelJob sum{"sum", "sum", [](mlir::MLIRContext &context) {
                    return mlir::FailureOr(sumKernel(context, 64, 4));
                  }};
    kernels = llvm::cantFail(compileKernels({add, sum}, options));
  }

  /// out = sum((x + y) + y): the first sum goes to the arena at 64, the second
  /// over it, the workspace at 0.
  Plan twoAddsAndASum() {
    auto buffer = [](int64_t i) { return BufferRef{BufferRef::Buffer, i, 0}; };
    auto arena = [](int64_t offset) {
      return BufferRef{BufferRef::Arena, 0, offset};
    };
    const LaunchInfo &add = kernels[0]->launches[0];
    Plan plan;
    plan.arenaBytes = 1024;
    plan.launches.push_back(
        {add.symbol, add.tiles, {buffer(0), buffer(1), arena(128)}});
    plan.launches.push_back(
        {add.symbol, add.tiles, {arena(128), buffer(1), arena(512)}});
    for (const LaunchInfo &launch : kernels[1]->launches)
      plan.launches.push_back(
          {launch.symbol, launch.tiles, {arena(512), buffer(2), arena(0)}});
    return plan;
  }

  float run(Entry entry, const tessera_host *host) {
    std::vector<float> x(64), y(64, 0.5f);
    std::iota(x.begin(), x.end(), 0.0f);
    float out = -1;
    alignas(64) char arena[1024];
    void *buffers[] = {x.data(), y.data(), &out};
    EXPECT_EQ(entry(host, buffers, nullptr, arena, nullptr), 0);
    return out;
  }
};

void backwards(const tessera_host *host, tessera_kernel_fn kernel,
               void *const *buffers, int64_t tiles) {
  ++*static_cast<int *>(host->context);
  for (int64_t tile = tiles - 1; tile >= 0; --tile)
    kernel(buffers, tile, tile + 1);
}

TEST_F(PlanTest, SerialAndParallel) {
  CompiledPlan plan = llvm::cantFail(
      loadPlan(twoAddsAndASum(), kernels, options.target, &cache));
  kernels.clear();
  cache.dropUnreferenced();
  auto entry = reinterpret_cast<Entry>(plan.entry);
  EXPECT_EQ(run(entry, nullptr), 2080.0f);
  int calls = 0;
  tessera_host serial{nullptr, nullptr, 1}, parallel{backwards, &calls, 1};
  EXPECT_EQ(run(entry, &serial), 2080.0f);
  EXPECT_EQ(run(entry, &parallel), 2080.0f);
  // The last launch has one tile and is called directly.
  EXPECT_EQ(calls, 3);
}

TEST_F(PlanTest, FromDisk) {
  Plan plan = twoAddsAndASum();
  llvm::cantFail(loadPlan(plan, kernels, options.target, &cache));
  int64_t files = cache.usage().files;
  CompiledPlan again =
      llvm::cantFail(loadPlan(plan, kernels, options.target, &cache));
  EXPECT_EQ(cache.usage().files, files);
  EXPECT_EQ(run(reinterpret_cast<Entry>(again.entry), nullptr), 2080.0f);
}

TEST_F(PlanTest, EmptyPlan) {
  CompiledPlan plan =
      llvm::cantFail(loadPlan(Plan(), {}, options.target, &cache));
  EXPECT_EQ(reinterpret_cast<Entry>(plan.entry)(nullptr, nullptr, nullptr,
                                                nullptr, nullptr),
            0);
}

TEST_F(PlanTest, OwnFloatingPointEnvironment) {
  CompiledPlan plan = llvm::cantFail(
      loadPlan(twoAddsAndASum(), kernels, options.target, &cache));
  unsigned before = _mm_getcsr();
  _mm_setcsr(0x1F80 | 0x8040 |
             0x2000); // Flush to zero, denormals are zero, round down.
  std::vector<float> x(64, 1e-44f), y(64, 0.0f);
  float out = -1;
  alignas(64) char arena[1024];
  void *buffers[] = {x.data(), y.data(), &out};
  reinterpret_cast<Entry>(plan.entry)(nullptr, buffers, nullptr, arena,
                                      nullptr);
  unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(after & 0xFFC0, 0x1F80u | 0x8040 | 0x2000);
  EXPECT_GT(out, 0.0f);
}

TEST_F(PlanTest, ObjectForLinking) {
  std::string object =
      llvm::cantFail(planObject(twoAddsAndASum(), "model", options.target));
  std::vector<std::shared_ptr<LoadedObject>> code{kernels[0]->code,
                                                  kernels[1]->code};
  auto loaded = llvm::cantFail(loadObject(object, "plan-object", code));
  EXPECT_EQ(run(reinterpret_cast<Entry>(loaded->lookup("model")), nullptr),
            2080.0f);
}

} // namespace
