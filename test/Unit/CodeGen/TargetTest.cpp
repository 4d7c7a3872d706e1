// What the code generator knows about targets, and what it says about names it
// does not know.
#include "lowering/CodeGen/GpuTarget.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <cstdlib>

using namespace tessera::lowering;

namespace {

struct TargetTest : ::testing::Test {
  void TearDown() override { unsetenv("TESSERA_CPU"); }
};

TEST_F(TargetTest, LevelsHaveTheirFeatures) {
  auto base = llvm::cantFail(targetFor("x86-64"));
  auto v3 = llvm::cantFail(targetFor("x86-64-v3"));
  auto v4 = llvm::cantFail(targetFor("x86-64-v4"));
  EXPECT_FALSE(base.hasFMA);
  EXPECT_EQ(base.vectorBits, 128);
  EXPECT_TRUE(v3.hasFMA && v3.hasAVX2 && v3.hasHalfConversions &&
              !v3.hasAVX512);
  EXPECT_EQ(v3.vectorBits, 256);
  EXPECT_EQ(v3.registers(), 16);
  EXPECT_TRUE(v4.hasAVX512);
  EXPECT_EQ(v4.registers(), 32);
  EXPECT_TRUE(llvm::cantFail(targetFor("znver4")).hasAVX512BF16);
}

TEST_F(TargetTest, Lanes) {
  mlir::MLIRContext context;
  auto v3 = llvm::cantFail(targetFor("x86-64-v3"));
  EXPECT_EQ(v3.lanes(mlir::Float32Type::get(&context)), 8);
  EXPECT_EQ(v3.lanes(mlir::Float64Type::get(&context)), 4);
  EXPECT_EQ(v3.lanes(mlir::IntegerType::get(&context, 1)), 32);
  EXPECT_EQ(v3.lanes(mlir::IndexType::get(&context)), 4);
}

TEST_F(TargetTest, UnknownNameIsAnError) {
  auto target = targetFor("pentium9");
  ASSERT_FALSE(target);
  EXPECT_NE(llvm::toString(target.takeError()).find("unknown CPU 'pentium9'"),
            std::string::npos);
  auto old = targetFor("i386");
  EXPECT_FALSE(old);
  llvm::consumeError(old.takeError());
}

TEST_F(TargetTest, Gpus) {
  for (const GpuTarget &gpu : gpuTargets()) {
    auto target = llvm::cantFail(gpuTargetFor(gpu.name));
    EXPECT_EQ(target.gpu, &gpu);
    EXPECT_EQ(target.cpu, gpu.name);
    EXPECT_GE(gpu.ptxVersion, 80);
    EXPECT_LT(gpu.sharedPerBlock, gpu.sharedPerMultiprocessor + 1);
  }
  EXPECT_TRUE(llvm::cantFail(gpuTargetFor("sm_90a")).gpu->hasWgmma);
  EXPECT_FALSE(llvm::cantFail(gpuTargetFor("sm_75")).gpu->hasAsyncCopy);
  auto asCpu = targetFor("sm_90");
  ASSERT_FALSE(asCpu);
  EXPECT_EQ(llvm::toString(asCpu.takeError()),
            "'sm_90' is a GPU, and this compiles for CPUs only");
}

TEST_F(TargetTest, TF32IsPartOfTheKey) {
  for (auto [name, has] : {std::pair("sm_75", false), std::pair("sm_80", true),
                           std::pair("sm_120", true)}) {
    auto target = llvm::cantFail(gpuTargetFor(name)), allowed = target;
    EXPECT_FALSE(target.allowsTF32);
    allowTF32(allowed);
    EXPECT_EQ(allowed.allowsTF32, has);
    EXPECT_EQ(allowed.key() != target.key(), has);
  }
  auto cpu = llvm::cantFail(targetFor("x86-64-v3"));
  allowTF32(cpu);
  EXPECT_FALSE(cpu.allowsTF32);
}

// As the CUDA occupancy calculator has them.
TEST_F(TargetTest, Occupancy) {
  auto of = [](const char *arch, int threads, int registers, int64_t shared) {
    return occupancyOf(*llvm::cantFail(gpuTargetFor(arch)).gpu, threads,
                       registers, shared);
  };
  EXPECT_EQ(of("sm_80", 256, 32, 0).fraction, 1);
  Occupancy registers = of("sm_80", 256, 64, 0);
  EXPECT_EQ(registers.blocks, 4);
  EXPECT_EQ(registers.fraction, 0.5);
  EXPECT_EQ(registers.limitedBy, "registers");
  Occupancy shared = of("sm_90", 256, 32, 48 << 10);
  EXPECT_EQ(shared.blocks, 4);
  EXPECT_EQ(shared.limitedBy, "shared memory");
  EXPECT_EQ(of("sm_86", 1024, 32, 0).warps, 32);
  EXPECT_EQ(of("sm_89", 32, 16, 0).limitedBy, "blocks");
  EXPECT_EQ(of("sm_75", 128, 256, 0).blocks, 0);
  EXPECT_EQ(of("sm_86", 128, 32, 100 << 10).blocks, 0);
}

TEST_F(TargetTest, EnvironmentVariable) {
  auto native = llvm::cantFail(hostTargetOrError());
  setenv("TESSERA_CPU", "native", 1);
  EXPECT_EQ(llvm::cantFail(hostTargetOrError()).key(), native.key());
  setenv("TESSERA_CPU", "x86-64", 1);
  EXPECT_EQ(llvm::cantFail(hostTargetOrError()).cpu, "x86-64");
  setenv("TESSERA_CPU", "x86_64", 1);
  auto wrong = hostTargetOrError();
  ASSERT_FALSE(wrong);
  llvm::consumeError(wrong.takeError());
  setenv("TESSERA_CPU", "diamondrapids", 1);
  auto lacking = hostTargetOrError();
  if (!lacking)
    EXPECT_NE(llvm::toString(lacking.takeError()).find("lacks"),
              std::string::npos);
}

} // namespace
