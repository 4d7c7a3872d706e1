// The allocator of GPU memory: reuse in stream order, limits, and what happens
// when the memory does not suffice.
#include "test/Cuda/Fixture.h"

#include <random>
#include <thread>

using namespace tessera::test;

namespace {

constexpr size_t MiB = size_t(1) << 20;
using CudaAllocatorTest = CudaTest;

} // namespace

TEST_F(CudaAllocatorTest, aStreamGetsItsBlockBack) {
  Gpu gpu(0);
  Allocator &allocator = gpu.allocator();
  DevicePointer first = allocator.allocate(1000, gpu.stream());
  EXPECT_EQ(first % Allocator::kAlignment, 0u);
  allocator.deallocate(first);
  EXPECT_EQ(allocator.stats().bytesCached, Allocator::roundUp(1000));
  DevicePointer second = allocator.allocate(1001, gpu.stream());
  EXPECT_EQ(first, second);
  EXPECT_EQ(allocator.stats().hits, 1u);
  EXPECT_EQ(callsOf("cuMemAlloc_v2"), 1u);
  allocator.deallocate(second);
}

TEST_F(CudaAllocatorTest, anotherStreamDoesNot) {
  Gpu gpu(0);
  Allocator &allocator = gpu.allocator();
  Stream other(gpu);
  DevicePointer first = allocator.allocate(1000, gpu.stream());
  allocator.deallocate(first);
  DevicePointer second = allocator.allocate(1000, other);
  EXPECT_NE(first, second);
  allocator.deallocate(second);
}

TEST_F(CudaAllocatorTest, aBlockUsedByAnotherStreamWaitsForIt) {
  Gpu gpu(0);
  Allocator &allocator = gpu.allocator();
  Stream other(gpu);
  auto values = numbers(1024);
  Memory target(gpu, 4096, other);
  DevicePointer data = allocator.allocate(4096, gpu.stream());
  gpu.staging().upload(data, values.data(), 4096, gpu.stream());
  Event filled(gpu);
  filled.record(gpu.stream());
  other.wait(filled);
  other.copy(target.get(), data, 4096);
  allocator.recordUse(data, other);
  allocator.deallocate(data);
  Memory next(gpu, 4096);
  EXPECT_NE(next.get(), data) << "the other stream has not read it yet";
  gpu.stream().fill(next.get(), 0xff, 4096);
  EXPECT_EQ(download(target, other), values);
  Memory afterwards(gpu, 4096);
  EXPECT_EQ(afterwards.get(), data);
}

TEST_F(CudaAllocatorTest, whatIsKeptMakesRoom) {
  Gpu gpu(0);
  Allocator &allocator = gpu.allocator();
  for (size_t size = 1; size <= 12; ++size) { // 78 MiB in 64
    Memory memory(gpu, size * MiB);
    gpu.stream().fill(memory.get(), 1, memory.bytes());
  }
  EXPECT_LE(allocator.stats().bytesCached, 64 * MiB);
}

TEST_F(CudaAllocatorTest, outOfMemoryLeavesAllUsable) {
  Gpu gpu(0);
  std::vector<Memory> held;
  std::string text;
  try {
    for (;;)
      held.emplace_back(gpu, 10 * MiB);
  } catch (const tessera::runtime::OutOfMemoryError &error) {
    text = error.what();
    EXPECT_EQ(error.requested, 10 * MiB);
    EXPECT_EQ(error.inUse, 60 * MiB);
  }
  EXPECT_EQ(held.size(), 6u);
  expectHas(text, "the memory of cuda:0 does not suffice: 10485760 bytes asked "
                  "for, 60 MiB in use");
  expectHas(text, "4 MiB of 64 MiB free on the GPU");
  held.pop_back();
  Memory fits(gpu, 9 * MiB);
  upload(fits, numbers(10), gpu.stream());
  Gpu other(1); // has memory of its own
  Memory there(other, 60 * MiB);
}

TEST_F(CudaAllocatorTest, limit) {
  Gpu gpu(0);
  Allocator &allocator = gpu.allocator();
  allocator.setLimit(8 * MiB);
  Memory memory(gpu, 6 * MiB);
  auto [text, fault] = errorOf([&] { Memory more(gpu, 4 * MiB); });
  expectHas(text, "6 MiB in use by this program of a limit of 8 MiB");
  Memory less(gpu, 2 * MiB);
  EXPECT_EQ(allocator.stats().bytesInUse, 8 * MiB);
  EXPECT_EQ(allocator.limit(), 8 * MiB);
}

TEST_F(CudaAllocatorTest, hugeSizesThrow) {
  Gpu gpu(0);
  Allocator &allocator = gpu.allocator();
  for (size_t bytes : {~size_t(0), size_t(1) << 60, size_t(1) << 45})
    EXPECT_THROW(Memory(gpu, bytes), OutOfDeviceMemory);
  EXPECT_EQ(allocator.stats().bytesInUse, 0u);
}

TEST_F(CudaAllocatorTest, statistics) {
  Gpu gpu(0);
  Allocator &allocator = gpu.allocator();
  {
    Memory memory(gpu, 3 * MiB);
    EXPECT_EQ(allocator.stats().bytesInUse, 3 * MiB);
  }
  EXPECT_EQ(allocator.stats().bytesPeak, 3 * MiB);
  allocator.resetPeak();
  EXPECT_EQ(allocator.stats().bytesPeak, 0u);
  allocator.releaseCache();
  EXPECT_EQ(allocator.stats().bytesCached, 0u);
  EXPECT_EQ(callsOf("cuMemFree_v2"), 1u);
}

TEST_F(CudaAllocatorTest, threadsShareIt) {
  Gpu gpu(0);
  Allocator &allocator = gpu.allocator();
  auto body = [&](unsigned seed) {
    std::mt19937 random(seed);
    Stream stream(gpu);
    for (int round = 0; round < 25; ++round) {
      size_t count = 1 + random() % 5000;
      Memory memory(gpu, count * 4, stream);
      auto values = numbers(count, float(seed));
      upload(memory, values, stream);
      if (download(memory, stream) != values)
        ADD_FAILURE() << "thread " << seed << ", round " << round;
    }
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed)
    threads.emplace_back(body, seed);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(allocator.stats().bytesInUse, 0u);
}
