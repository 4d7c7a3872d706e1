// Storage: ownership, views, uniqueness.
#include "runtime/Storage.h"

#include "runtime/Allocator.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace tessera::runtime;

TEST(Storage, ownedBytesGoBack) {
  size_t inUse = Allocator::host().stats().bytesInUse;
  {
    Storage storage = Storage::allocate(1000);
    EXPECT_TRUE(storage);
    EXPECT_EQ(storage.bytes(), 1000u);
    EXPECT_EQ(storage.device(), Device("cpu"));
    EXPECT_GT(Allocator::host().stats().bytesInUse, inUse);
  }
  EXPECT_EQ(Allocator::host().stats().bytesInUse, inUse);
}

TEST(Storage, emptyHandle) {
  Storage none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.data(), nullptr);
  EXPECT_EQ(none.bytes(), 0u);
  EXPECT_FALSE(none.isUnique());
  EXPECT_EQ(none, Storage());
}

TEST(Storage, copiesShareAndMovesDoNot) {
  Storage a = Storage::allocate(8);
  EXPECT_TRUE(a.isUnique());
  Storage b = a;
  EXPECT_EQ(a, b);
  EXPECT_FALSE(a.isUnique());
  b = Storage();
  EXPECT_TRUE(a.canDonate());
  Storage &self = a;
  a = self;
  EXPECT_TRUE(a.isUnique());
  Storage c = std::move(a);
  EXPECT_TRUE(c.isUnique());
  EXPECT_FALSE(a);
}

TEST(Storage, borrowedIsReleasedOnceAndNeverDonated) {
  int released = 0;
  char bytes[16];
  {
    Storage a = Storage::borrow(bytes, sizeof bytes, [&] { ++released; });
    Storage b = a, view = Storage::view(a, 4, 8);
    EXPECT_EQ(view.data(), bytes + 4);
    a = b = Storage();
    EXPECT_TRUE(view.isUnique());
    EXPECT_FALSE(view.canDonate());
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(Storage, viewsKeepTheWholeAlive) {
  Storage whole = Storage::allocate(100);
  auto *data = static_cast<char *>(whole.data());
  Storage view = Storage::view(Storage::view(whole, 10, 50), 10, 40);
  EXPECT_EQ(view.data(), data + 20);
  EXPECT_FALSE(whole.isUnique());
  EXPECT_FALSE(view.isUnique());
  whole = Storage();
  EXPECT_TRUE(view.canDonate());
  data[59] = 1; // still there
  Storage empty = Storage::view(view, 40, 0);
  EXPECT_EQ(empty.bytes(), 0u);
}

TEST(Storage, viewsOutsideThrow) {
  Storage whole = Storage::allocate(100);
  EXPECT_THROW(Storage::view(whole, 50, 51), std::out_of_range);
  EXPECT_THROW(Storage::view(whole, 101, 0), std::out_of_range);
  EXPECT_THROW(Storage::view(whole, 1, ~size_t(0)), std::out_of_range);
  EXPECT_THROW(Storage::view(Storage(), 0, 0), std::out_of_range);
}

TEST(Storage, deviceMemoryIsOfTheDriver) {
  // The driver, if there is one, has no GPU of this number.
  EXPECT_THROW(Storage::allocate(8, Device("cuda:1023")), std::runtime_error);
  EXPECT_EQ(Storage::allocate(8, Device("sim:sm_90")).device().str(),
            "sim:sm_90");
}

TEST(Storage, countsOverThreads) {
  std::atomic<int> released = 0;
  int value = 0;
  {
    Storage shared = Storage::borrow(&value, 4, [&] { ++released; });
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([mine = shared] {
        for (int i = 0; i < 2000; ++i) {
          Storage copy = mine, view = Storage::view(copy, 0, 4);
        }
      });
    shared = Storage();
    for (std::thread &thread : threads)
      thread.join();
  }
  EXPECT_EQ(released, 1);
}
