// Streams, events and copies.
#include "test/Cuda/Fixture.h"

#include <cstring>

using namespace tessera::test;

using CudaStreamTest = CudaTest;

TEST_F(CudaStreamTest, uploadAndDownload) {
  Gpu gpu(0);
  for (size_t count : {1, 1000, 1 << 20, (3 << 20) + 5}) {
    Memory memory(gpu, count * 4);
    auto values = numbers(count);
    upload(memory, values, gpu.stream());
    // What is uploaded was read already.
    auto expected = values;
    std::fill(values.begin(), values.end(), -1.0f);
    EXPECT_EQ(download(memory, gpu.stream()), expected) << count;
  }
}

TEST_F(CudaStreamTest, copiesOfNothing) {
  Gpu gpu(0);
  Memory memory(gpu, 0);
  gpu.staging().upload(memory.get(), nullptr, 0, gpu.stream());
  gpu.staging().download(nullptr, memory.get(), 0, gpu.stream());
  gpu.stream().copy(memory.get(), memory.get(), 0);
  gpu.stream().fill(memory.get(), 0, 0);
}

TEST_F(CudaStreamTest, copyAndFill) {
  Gpu gpu(0);
  Memory a(gpu, 4000), b(gpu, 4000);
  upload(a, numbers(1000), gpu.stream());
  gpu.stream().fill(b.get(), 0, 4000);
  gpu.stream().copy(b.get() + 400, a.get() + 400, 3600);
  auto expected = numbers(1000);
  std::fill_n(expected.begin(), 100, 0.0f);
  EXPECT_EQ(download(b, gpu.stream()), expected);
}

TEST_F(CudaStreamTest, eventsOrderStreams) {
  Gpu gpu(0);
  Stream other(gpu);
  Memory a(gpu, 4000), b(gpu, 4000, other);
  upload(a, numbers(1000), gpu.stream());
  Event filled(gpu);
  EXPECT_TRUE(filled.isDone()) << "it was never recorded";
  filled.record(gpu.stream());
  EXPECT_FALSE(filled.isDone());
  other.wait(filled);
  other.copy(b.get(), a.get(), 4000);
  EXPECT_EQ(download(b, other), numbers(1000));
  filled.synchronize();
  EXPECT_TRUE(filled.isDone());
}

// Without the event, the test driver finds the race: what it says is taken here
// so that the test passes.
TEST_F(CudaStreamTest, theTestDriverFindsRaces) {
  Gpu gpu(0);
  Stream other(gpu);
  Memory a(gpu, 4000), b(gpu, 4000, other);
  upload(a, numbers(1000), gpu.stream());
  other.copy(b.get(), a.get(), 4000);
  ASSERT_EQ(violations().size(), 1u);
  expectHas(violations().front(), "that another stream may be using");
  gpu.stream().synchronize();
  other.synchronize();
  forgetViolations();
}

TEST_F(CudaStreamTest, idle) {
  Gpu gpu(0);
  EXPECT_TRUE(gpu.stream().isIdle());
  Memory memory(gpu, 4);
  gpu.stream().fill(memory.get(), 1, 4);
  EXPECT_FALSE(gpu.stream().isIdle());
  while (!gpu.stream().isIdle())
    ;
  gpu.stream().synchronize();
}

TEST_F(CudaStreamTest, time) {
  Gpu gpu(0);
  Event from(gpu, /*timing=*/true), to(gpu, /*timing=*/true);
  from.record(gpu.stream());
  to.record(gpu.stream());
  to.synchronize();
  EXPECT_GT(elapsedMilliseconds(gpu, from, to), 0);
}

TEST_F(CudaStreamTest, fromGpuToGpu) {
  Gpu gpu(0), other(1);
  Memory a(gpu, 4000), b(other, 4000);
  upload(a, numbers(1000), gpu.stream());
  upload(b, numbers(1000, 5), other.stream());
  gpu.stream().copyTo(other.stream(), b.get(), a.get(), 4000);
  EXPECT_EQ(download(b, other.stream()), numbers(1000));
  gpu.stream().synchronize();
}
