// Loading of the driver, and opening of GPUs. A process loads a driver once, so
// each refusal is seen in a process of its own.
#include "test/Cuda/Fixture.h"

#include <cstdio>

using namespace tessera::test;

namespace {

struct DriverTest : CudaTest {
  DriverTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

// Prints the error and ends the process, with 0 if its fault is `fault`.
template <typename Body> [[noreturn]] void tell(Fault fault, Body body) {
  try {
    body();
  } catch (const DeviceError &error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::_Exit(error.fault() == fault ? 0 : 1);
  }
  std::_Exit(2);
}

} // namespace

// Run with a driver that is not there, by a test of CTest's.
TEST(DISABLED_Driver, noDriver) {
  auto [text, fault] = errorOf([] { Gpu::count(); });
  EXPECT_EQ(fault, Fault::NoDriver);
  expectHas(text, "there is no CUDA driver (libno-such-driver.so.1");
  expectHas(text, "install NVIDIA's driver");
  auto [again, sameFault] = errorOf([] { Gpu::at(0); });
  EXPECT_EQ(again, text);
  EXPECT_EQ(sameFault, Fault::NoDriver);
}

TEST_F(DriverTest, oldDriver) {
  EXPECT_EXIT(tell(Fault::DriverTooOld,
                   [] {
                     resetDriver({{}}, 11080);
                     Gpu::count();
                   }),
              testing::ExitedWithCode(0), "of CUDA 11.8, which is too old");
}

TEST_F(DriverTest, noGpu) {
  EXPECT_EXIT(tell(Fault::NoDevice,
                   [] {
                     resetDriver({});
                     Gpu::count();
                   }),
              testing::ExitedWithCode(0), "finds no GPU");
}

TEST_F(DriverTest, driverThatDoesNotStart) {
  EXPECT_EXIT(tell(Fault::NoDriver,
                   [] {
                     failCalls("cuInit", Result::SystemDriverMismatch);
                     Gpu::count();
                   }),
              testing::ExitedWithCode(0), "does not start");
}

TEST_F(DriverTest, gpus) {
  EXPECT_EQ(Gpu::count(), 2);
  Gpu gpu(1);
  EXPECT_EQ(gpu.info().name, "Test GPU 1");
  EXPECT_EQ(gpu.info().arch, "sm_90");
  EXPECT_EQ(gpu.info().memoryBytes, size_t(64) << 20);
  EXPECT_EQ(gpu.info().sharedPerBlock, 227 << 10);
  EXPECT_EQ(gpu.str(), "cuda:1");
}

TEST_F(DriverTest, noSuchGpu) {
  for (int ordinal : {-1, 2}) {
    auto [text, fault] = errorOf([&] { Gpu gpu(ordinal); });
    EXPECT_EQ(fault, Fault::NoDevice);
    expectHas(text, "this machine has 2 GPUs, cuda:0 to cuda:1");
  }
}

TEST_F(DriverTest, architectureTooOld) {
  resetDriver({{.name = "Old GPU", .major = 6, .minor = 1}});
  auto [text, fault] = errorOf([&] { Gpu gpu(0); });
  EXPECT_EQ(fault, Fault::WrongArch);
  expectHas(text, "cuda:0 (Old GPU) is of architecture sm_61");
}

// The program's own context is current again after each call.
TEST_F(DriverTest, otherContextsAreLeftAlone) {
  Gpu gpu(0), other(1);
  const Driver &driver = gpu.driver();
  driver.contextPush(other.context());
  Memory memory(gpu, 100);
  gpu.stream().synchronize();
  Context current = nullptr;
  driver.contextPop(&current);
  EXPECT_EQ(current, other.context());
}
