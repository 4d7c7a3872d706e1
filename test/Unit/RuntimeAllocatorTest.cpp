// The caching allocator: reuse, statistics, limit, threads.
#include "runtime/Allocator.h"

#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <thread>
#include <vector>

using namespace tessera::runtime;

namespace {

// Each test starts with nothing kept and no limit.
struct AllocatorTest : testing::Test {
  Allocator &host = Allocator::host();
  void SetUp() override { host.releaseCache(); }
  void TearDown() override {
    host.setLimit(Allocator::kNoLimit);
    host.releaseCache();
  }
};

} // namespace

TEST_F(AllocatorTest, sizeClassesWasteLittle) {
  size_t before = 0;
  for (size_t bytes = 0; bytes < (size_t(1) << 33); bytes += 1 + bytes / 37) {
    size_t rounded = Allocator::roundUp(bytes);
    EXPECT_GE(rounded, std::max<size_t>(bytes, 64));
    EXPECT_LE(rounded, std::max(bytes + 64, bytes + bytes / 8));
    EXPECT_EQ(rounded % 64, 0u);
    EXPECT_EQ(Allocator::roundUp(rounded), rounded);
    EXPECT_GE(rounded, before);
    before = rounded;
  }
}

TEST_F(AllocatorTest, blocksAreAlignedAndWritable) {
  for (size_t bytes : {0, 1, 64, 1000, 1 << 20, (1 << 20) + 1, 5 << 20}) {
    void *data = host.allocate(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
    std::memset(data, 1, bytes);
    host.deallocate(data, bytes);
  }
}

TEST_F(AllocatorTest, freedBlocksAreReused) {
  for (size_t bytes : {100, 3 << 20}) {
    void *first = host.allocate(bytes);
    host.deallocate(first, bytes);
    AllocatorStats before = host.stats();
    void *second = host.allocate(bytes);
    EXPECT_EQ(first, second);
    EXPECT_EQ(host.stats().hits, before.hits + 1);
    EXPECT_EQ(host.stats().bytesCached,
              before.bytesCached - Allocator::roundUp(bytes));
    host.deallocate(second, bytes);
  }
}

TEST_F(AllocatorTest, statistics) {
  host.resetPeak();
  AllocatorStats before = host.stats();
  EXPECT_EQ(before.bytesCached, 0u);
  void *data = host.allocate(4096);
  host.deallocate(data, 4096);
  AllocatorStats after = host.stats();
  EXPECT_EQ(after.bytesInUse, before.bytesInUse);
  EXPECT_EQ(after.bytesPeak, before.bytesInUse + 4096);
  EXPECT_EQ(after.bytesCached, 4096u);
  EXPECT_EQ(after.allocations, before.allocations + 1);
  host.releaseCache();
  EXPECT_EQ(host.stats().bytesCached, 0u);
}

TEST_F(AllocatorTest, limitThrowsWithSizes) {
  size_t inUse = host.stats().bytesInUse;
  host.setLimit(inUse + (8 << 20));
  void *data = host.allocate(6 << 20);
  try {
    (void)host.allocate(4 << 20);
    FAIL();
  } catch (const OutOfMemoryError &error) {
    EXPECT_EQ(error.requested, size_t(4 << 20));
    EXPECT_EQ(error.inUse, inUse + (6 << 20));
    EXPECT_EQ(error.limit, inUse + (8 << 20));
    EXPECT_NE(std::string(error.what()).find("4194304 bytes asked for"),
              std::string::npos);
  }
  EXPECT_EQ(host.stats().bytesInUse, inUse + (6 << 20));
  host.deallocate(data, 6 << 20);
  // What is kept makes way for what is asked for.
  data = host.allocate(4 << 20);
  EXPECT_LE(host.stats().bytesCached, size_t(4 << 20));
  host.deallocate(data, 4 << 20);
}

TEST_F(AllocatorTest, hugeSizesThrow) {
  EXPECT_THROW((void)host.allocate(~size_t(0)), OutOfMemoryError);
  EXPECT_THROW((void)host.allocate(size_t(1) << 62), std::bad_alloc);
  size_t inUse = host.stats().bytesInUse;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  // More than the address space gives, less than the largest size class.
  EXPECT_THROW((void)host.allocate(size_t(1) << 47), OutOfMemoryError);
#endif
  EXPECT_EQ(host.stats().bytesInUse, inUse);
}

TEST_F(AllocatorTest, keptBytesAreBounded) {
  host.resetPeak();
  size_t peak = 0;
  for (size_t mib = 1; mib < 200; mib += 3) {
    void *data = host.allocate(mib << 20); // every class once, none reused
    host.deallocate(data, mib << 20);
    peak = host.stats().bytesPeak;
    EXPECT_LE(host.stats().bytesCached, 2 * peak + (size_t(256) << 20));
  }
}

TEST_F(AllocatorTest, threadsShareIt) {
  size_t inUse = host.stats().bytesInUse;
  auto body = [&](unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::pair<unsigned char *, size_t>> blocks;
    for (int i = 0; i < 3000; ++i) {
      if (blocks.size() < 20 && random() % 2) {
        size_t bytes = 1 + random() % 5000;
        auto *data = static_cast<unsigned char *>(host.allocate(bytes));
        std::memset(data, int(seed), bytes);
        blocks.push_back({data, bytes});
      } else if (!blocks.empty()) {
        std::swap(blocks[random() % blocks.size()], blocks.back());
        auto [data, bytes] = blocks.back();
        EXPECT_EQ(data[0], seed);
        EXPECT_EQ(data[bytes - 1], seed);
        host.deallocate(data, bytes);
        blocks.pop_back();
      }
    }
    for (auto [data, bytes] : blocks)
      host.deallocate(data, bytes);
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed)
    threads.emplace_back(body, seed);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(host.stats().bytesInUse, inUse);
}
