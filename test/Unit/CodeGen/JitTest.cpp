// Kernels that are compiled, loaded and run: values, lifetimes, threads.
#include "Compile.h"
#include "gtest/gtest.h"
#include <atomic>
#include <numeric>
#include <thread>

using namespace tessera;
using namespace tessera::lowering;
using namespace tessera::test;

namespace {

std::shared_ptr<LoadedObject> compile(mlir::ModuleOp module,
                                      const std::string &id) {
  TargetInfo target = hostTarget();
  std::string object = llvm::cantFail(toObject(module, target, {nullptr, id}));
  return llvm::cantFail(loadObject(object, id));
}

TEST(Jit, AddWithTails) {
  auto context = kernelContext();
  for (int64_t n : {1, 7, 8, 9, 100, 1000, 1023}) {
    std::string id = "_tails" + std::to_string(n);
    auto object = compile(*addKernel(*context, n, 3, 8), id);
    auto *add = reinterpret_cast<Kernel>(object->lookup("add" + id));
    ASSERT_TRUE(add);
    std::vector<float> a(n), b(n), out(n + 1, -1.0f);
    std::iota(a.begin(), a.end(), 0.0f);
    std::iota(b.begin(), b.end(), 0.5f);
    void *buffers[] = {a.data(), b.data(), out.data()};
    add(buffers, 0, 3);
    for (int64_t i = 0; i < n; ++i)
      ASSERT_EQ(out[i], a[i] + b[i]);
    EXPECT_EQ(out[n], -1.0f);
  }
}

TEST(Jit, TwoLaunchesShareAWorkspace) {
  auto context = kernelContext();
  auto object = compile(*sumKernel(*context, 1024, 8), "_sum");
  std::vector<float> in(1024, 0.25f);
  float out = 0;
  alignas(64) char work[64 + 8 * 4];
  void *buffers[] = {in.data(), &out, work};
  auto *partials = reinterpret_cast<Kernel>(object->lookup("partials_sum"));
  auto *combine = reinterpret_cast<Kernel>(object->lookup("combine_sum"));
  for (int64_t tile = 7; tile >= 0; --tile)
    partials(buffers, tile, tile + 1);
  combine(buffers, 0, 1);
  EXPECT_EQ(out, 256.0f);
}

TEST(Jit, BoolsAreBytes) {
  auto context = kernelContext();
  auto object = compile(*lessKernel(*context, 11), "_less");
  std::vector<float> x(11), y(11, 5.0f);
  std::iota(x.begin(), x.end(), 0.0f);
  std::vector<uint8_t> out(12, 7);
  void *buffers[] = {x.data(), y.data(), out.data()};
  reinterpret_cast<Kernel>(object->lookup("less_less"))(buffers, 0, 1);
  for (int i = 0; i < 11; ++i)
    EXPECT_EQ(out[i], i < 5 ? 1 : 0);
  EXPECT_EQ(out[11], 7);
}

TEST(Jit, SameIdIsLoadedOnceAndUnloadedWithTheLastReference) {
  auto context = kernelContext();
  std::string bytes = llvm::cantFail(toObject(
      *addKernel(*context, 8, 1, 8), hostTarget(), {nullptr, "_once"}));
  auto first = llvm::cantFail(loadObject(bytes, "_once"));
  auto second = llvm::cantFail(loadObject(bytes, "_once"));
  EXPECT_EQ(first, second);
  EXPECT_EQ(findLoadedObject("_once"), first);
  first.reset();
  second.reset();
  EXPECT_EQ(findLoadedObject("_once"), nullptr);
  EXPECT_TRUE(llvm::cantFail(loadObject(bytes, "_once"))->lookup("add_once"));
}

TEST(Jit, DamagedObjectIsAnError) {
  auto context = kernelContext();
  std::string bytes =
      llvm::cantFail(toObject(*addKernel(*context, 8, 1, 8), hostTarget()));
  for (std::string damaged :
       {std::string(), std::string("nonsense"), bytes.substr(0, 100)}) {
    auto object = loadObject(damaged, "_damaged");
    ASSERT_FALSE(bool(object));
    llvm::consumeError(object.takeError());
  }
}

TEST(Jit, ThreadsLoadAndUnloadTheSameObjects) {
  auto context = kernelContext();
  std::vector<std::string> bytes;
  for (int i = 0; i < 3; ++i)
    bytes.push_back(
        llvm::cantFail(toObject(*addKernel(*context, 8, 1, 8), hostTarget(),
                                {nullptr, "_t" + std::to_string(i)})));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 60; ++i) {
        std::string id = "_t" + std::to_string(i % 3);
        auto object = llvm::cantFail(loadObject(bytes[i % 3], id));
        float a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8] = {};
        void *buffers[] = {a, a, out};
        reinterpret_cast<Kernel>(object->lookup("add" + id))(buffers, 0, 1);
        wrong += out[7] != 16.0f;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

} // namespace
