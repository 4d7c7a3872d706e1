// Kernels through the caches and threads, and errors of jobs.
#include "KernelModules.h"
#include "TemporaryFolder.h"
#include "lowering/CodeGen/CompileKernels.h"
#include "lowering/CodeGen/Optimize.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/HostAbi.h"
#include "gtest/gtest.h"
#include <atomic>
#include <fstream>
#include <thread>
#include <unistd.h>

using namespace tessera::lowering;
using namespace tessera::test;

namespace {

using Kernel = tessera_kernel_fn;

struct Compile : ::testing::Test {
  TemporaryFolder folder;
  ObjectCache cache{folder.path};
  std::atomic<int> built{0};
  KernelCompileOptions options;

  Compile() {
    options.target = hostTarget();
    options.cache = &cache;
  }

  KernelJob addJob(int64_t n) {
    return {"add" + std::to_string(n), "add",
            [this, n](mlir::MLIRContext &context) {
              ++built;
              return mlir::FailureOr(addKernel(context, n, 2, 4));
            }};
  }

  KernelJob textJob(const std::string &name, const std::string &text) {
    return {name, name,
            [text](mlir::MLIRContext &context)
                -> mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> {
              return parseKernel(context, text);
            }};
  }

  static void expectAdds(const CompiledObject &kernel, int64_t n) {
    std::vector<float> a(n, 1.5f), b(n, 2.0f), out(n);
    void *buffers[] = {a.data(), b.data(), out.data()};
    const LaunchInfo &launch = kernel.launches[0];
    EXPECT_EQ(launch.name, "add");
    EXPECT_EQ(launch.buffers, 3);
    reinterpret_cast<Kernel>(kernel.code->lookup(launch.symbol))(buffers, 0,
                                                                 launch.tiles);
    EXPECT_EQ(out, std::vector<float>(n, 3.5f));
  }
};

TEST_F(Compile, MemoryThenDiskThenAnew) {
  std::vector<KernelJob> jobs{addJob(10), addJob(20), addJob(10)};
  auto kernels = llvm::cantFail(compileKernels(jobs, options));
  EXPECT_EQ(built, 2);
  EXPECT_EQ(kernels[0], kernels[2]);
  expectAdds(*kernels[0], 10);
  expectAdds(*kernels[1], 20);
  EXPECT_EQ(kernels[0]->launches[0].symbol,
            "add" + symbolSuffix(jobs[0], options.target));
  EXPECT_EQ(llvm::cantFail(compileKernels(jobs, options)), kernels);

  kernels.clear();
  cache.dropUnreferenced();
  kernels = llvm::cantFail(compileKernels(jobs, options));
  EXPECT_EQ(built, 2);
  expectAdds(*kernels[1], 20);

  options.dump = [](const KernelJob &, DumpStage, llvm::StringRef) {};
  kernels = llvm::cantFail(compileKernels(jobs, options));
  EXPECT_EQ(built, 4);
}

TEST(Object, UnoptimisedCompilationsLeaveOthersAlone) {
  auto compile = [](llvm::CodeGenOptLevel level) {
    IRModule ir = llvm::cantFail(
        parseIR("define i64 @f(i64 %x) { %y = add i64 %x, 1\n ret i64 %y }"));
    return llvm::cantFail(
        emitObject(std::move(ir), hostTarget(), nullptr, level));
  };
  std::string before = compile(llvm::CodeGenOptLevel::Default);
  EXPECT_TRUE(compile(llvm::CodeGenOptLevel::None) != before);
  EXPECT_TRUE(compile(llvm::CodeGenOptLevel::Default) == before);
}

/// In a process of its own, since the cache is made once.
TEST(CacheDeathTest, TheEnvironmentSwitchesItOff) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const char *off : {"0", "off"})
    EXPECT_EXIT(
        {
          setenv("TESSERA_CACHE", off, 1);
          _exit(ObjectCache::instance().folder().empty() ? 0 : 1);
        },
        ::testing::ExitedWithCode(0), "");
}

TEST_F(Compile, DamagedFilesAreCompiledAnew) {
  llvm::cantFail(compileKernels({addJob(10)}, options));
  EXPECT_EQ(cache.usage().files, 1);
  int round = 0;
  for (auto damage : {+[](std::string &s) { s[s.size() / 2] ^= 1; },
                      +[](std::string &s) { s.resize(s.size() - 1); },
                      +[](std::string &s) { s[8] ^= 1; },
                      +[](std::string &s) { s.resize(20); },
                      +[](std::string &s) { s += "x"; },
                      +[](std::string &s) { s.clear(); }}) {
    cache.dropUnreferenced();
    folder.changeFiles(damage);
    expectAdds(*llvm::cantFail(compileKernels({addJob(10)}, options))[0], 10);
    EXPECT_EQ(built, ++round + 1);
    cache.dropUnreferenced();
    expectAdds(*llvm::cantFail(compileKernels({addJob(10)}, options))[0], 10);
    EXPECT_EQ(built, round + 1);
  }
}

TEST_F(Compile, ManyKernelsOnThreads) {
  options.threads = 3;
  std::vector<KernelJob> jobs;
  for (int64_t n = 1; n <= 24; ++n)
    jobs.push_back(addJob(n));
  auto kernels = llvm::cantFail(compileKernels(jobs, options));
  for (int64_t n = 1; n <= 24; ++n)
    expectAdds(*kernels[n - 1], n);
}

TEST_F(Compile, CallersOnThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int64_t n = 1; n <= 6; ++n)
        expectAdds(*llvm::cantFail(compileKernels({addJob(n)}, options))[0], n);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(Compile, ErrorsOfAllJobsAreCollected) {
  auto failing = KernelJob{
      "f", "softmax_3", [](mlir::MLIRContext &context) {
        mlir::emitError(mlir::FileLineColLoc::get(&context, "model.cpp", 12, 3))
            << "no way";
        return mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>(
            mlir::failure());
      }};
  auto wrong = textJob(
      "g", "func.func @g() attributes {tessera.launch = 1 : i64} { return }");
  auto result = compileKernels({failing, addJob(3), wrong}, options);
  ASSERT_FALSE(bool(result));
  std::string text = llvm::toString(result.takeError());
  EXPECT_NE(text.find("kernel softmax_3: loc(\"model.cpp\":12:3): no way"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("a launch takes memrefs"), std::string::npos) << text;
}

TEST_F(Compile, ContractIsVerified) {
  auto refused = [&](const std::string &body, const std::string &type) {
    std::string text =
        "func.func @f(%x: memref<8x" + type +
        ">, %begin: index, %end: index) attributes " +
        "{tessera.launch = 1 : i64} { %c0 = arith.constant 0 : index\n" +
        "%v = memref.load %x[%c0] : memref<8x" + type + ">\n" + body +
        "\nreturn }";
    auto result = compileKernels({textJob(text, text)}, options);
    EXPECT_FALSE(bool(result)) << body;
    return result ? std::string() : llvm::toString(result.takeError());
  };
  EXPECT_NE(refused("%w = math.exp %v : f32", "f32").find("was not expanded"),
            std::string::npos);
  EXPECT_NE(refused("%w = arith.addf %v, %v fastmath<fast> : f32", "f32")
                .find("fast-math"),
            std::string::npos);
  EXPECT_NE(
      refused("%w = arith.addf %v, %v : bf16", "bf16").find("narrow float"),
      std::string::npos);
  EXPECT_NE(refused("%f = arith.extf %v : bf16 to f32\n%w = arith.truncf %f : "
                    "f32 to bf16",
                    "bf16")
                .find("truncf"),
            std::string::npos);
}

TEST_F(Compile, OtherTargetsWithoutLoading) {
  options.target = llvm::cantFail(targetFor("x86-64-v4"));
  auto objects = llvm::cantFail(compileKernelObjects({addJob(100)}, options));
  EXPECT_EQ(llvm::StringRef(objects[0].bytes).take_front(4),
            llvm::StringRef("\177ELF"));
  EXPECT_EQ(objects[0].launches[0].tiles, 2);
}

TEST_F(Compile, BlobsAndFolders) {
  EXPECT_FALSE(cache.get("program", "k"));
  std::string bytes("a\0b", 3);
  cache.put("program", "k", bytes);
  EXPECT_EQ(cache.get("program", "k"), bytes);
  EXPECT_FALSE(cache.get("plan", "k"));
  folder.write("precious.txt", "the user's own");
  cache.clear();
  EXPECT_EQ(cache.usage().files, 0);
  EXPECT_TRUE(folder.has("precious.txt"));
  ObjectCache none("");
  none.put("program", "k", bytes);
  EXPECT_FALSE(none.get("program", "k"));
  ObjectCache unwritable("/proc/no-such-folder");
  unwritable.put("program", "k", bytes);
  EXPECT_FALSE(unwritable.get("program", "k"));
}

TEST_F(Compile, LeastRecentlyUsedGoesFirst) {
  ObjectCache small("", 2);
  auto object = [] { return std::make_shared<CompiledObject>(); };
  small.insert("a", object());
  small.insert("b", object());
  auto held = small.find("b");
  small.find("a");
  small.insert("c", object());
  EXPECT_FALSE(small.find("a"));
  EXPECT_TRUE(small.find("b"));
  EXPECT_TRUE(small.find("c"));
}

} // namespace
