// The thread pool: every tile once, whatever the threads and callers.
#include "runtime/ThreadPool.h"

#include "runtime/FloatEnv.h"
#include "runtime/Host.h"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <mutex>
#include <set>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace tessera::runtime;

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) && !defined(__SANITIZE_THREAD__)
#define __SANITIZE_THREAD__ 1
#endif
#endif

namespace {

void countTiles(void *const *buffers, int64_t begin, int64_t end) {
  auto *counts = static_cast<int *>(buffers[0]);
  for (int64_t i = begin; i < end; ++i)
    ++counts[i];
}

// Plain ints: a tile that two threads run is a race that TSan sees.
bool runsEachTileOnce(int64_t tiles, int threads) {
  std::vector<int> counts(size_t(tiles), 0);
  void *buffers[] = {counts.data()};
  parallelFor(countTiles, buffers, tiles, threads);
  for (int count : counts)
    if (count != 1)
      return false;
  return true;
}

// The threads that took part in calls of 64 slow tiles.
std::set<std::thread::id> participants(int threads, int calls) {
  std::set<std::thread::id> ids;
  std::mutex mutex;
  for (int i = 0; i < calls; ++i)
    parallelFor(64, threads, [&](int64_t, int64_t) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      std::lock_guard guard(mutex);
      ids.insert(std::this_thread::get_id());
    });
  return ids;
}

} // namespace

TEST(ThreadPool, runsEachTileOnce) {
  for (int threads : {1, 2, 3, 8})
    for (int64_t tiles : {0, 1, 2, 3, 7, 8, 9, 64, 1000, 4097})
      for (int i = 0; i < 20; ++i)
        ASSERT_TRUE(runsEachTileOnce(tiles, threads))
            << threads << " " << tiles;
}

TEST(ThreadPool, usesAsManyThreadsAsAsked) {
  for (int threads : {1, 2, 3, 8}) {
    std::set<std::thread::id> ids = participants(threads, 20);
    EXPECT_EQ(ids.size(), size_t(threads));
    EXPECT_TRUE(ids.count(std::this_thread::get_id()));
  }
}

TEST(ThreadPool, parksAndWakes) {
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_TRUE(runsEachTileOnce(100, 3));
  }
}

TEST(ThreadPool, waitsForASlowWorker) {
  // Longer than the caller spins, so it has to sleep and be woken.
  for (int i = 0; i < 20; ++i) {
    std::atomic<int> done = 0;
    std::thread::id caller = std::this_thread::get_id();
    parallelFor(2, 2, [&](int64_t, int64_t) {
      if (std::this_thread::get_id() != caller)
        std::this_thread::sleep_for(std::chrono::microseconds(500));
      ++done;
    });
    ASSERT_GE(done, 1);
  }
}

TEST(ThreadPool, manyUserThreadsAtOnce) {
  std::vector<std::thread> users;
  std::atomic<int> failures = 0;
  for (int u = 0; u < 4; ++u)
    users.emplace_back([&, u] {
      for (int i = 0; i < 300; ++i)
        if (!runsEachTileOnce(1 + (i * 7 + u) % 200, 1 + (i + u) % 4))
          ++failures;
    });
  for (std::thread &user : users)
    user.join();
  EXPECT_EQ(failures, 0);
}

TEST(ThreadPool, nestedCallsAreSerial) {
  std::atomic<int> wrong = 0, tiles = 0;
  parallelFor(16, 3, [&](int64_t begin, int64_t end) {
    std::thread::id self = std::this_thread::get_id();
    for (int64_t i = begin; i < end; ++i)
      parallelFor(8, 3, [&](int64_t b, int64_t e) {
        wrong += std::this_thread::get_id() != self;
        tiles += int(e - b);
      });
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(tiles, 16 * 8);
}

TEST(ThreadPool, exceptionsReachTheCaller) {
  auto fail = [](int64_t begin, int64_t) {
    if (begin == 0)
      throw std::runtime_error("tile 0");
  };
  for (int threads : {1, 3})
    EXPECT_THROW(parallelFor(9, threads, fail), std::runtime_error);
  EXPECT_TRUE(runsEachTileOnce(100, 3));
}

TEST(ThreadPool, defaultThreadCount) {
  int before = numThreads();
  EXPECT_GE(before, 1);
  setNumThreads(3);
  EXPECT_EQ(numThreads(), 3);
  EXPECT_EQ(hostFor(0)->threads, 3);
  EXPECT_THROW(setNumThreads(0), std::invalid_argument);
  EXPECT_THROW(setNumThreads(kMaxThreads + 1), std::invalid_argument);
  EXPECT_TRUE(runsEachTileOnce(50, 0));
  setNumThreads(before);
}

TEST(ThreadPool, hosts) {
  EXPECT_EQ(hostFor(1)->parallel_for, nullptr);
  const tessera_host *host = hostFor(3);
  EXPECT_EQ(host, hostFor(3));
  std::vector<int> counts(100, 0);
  void *buffers[] = {counts.data()};
  host->parallel_for(host, countTiles, buffers, 100);
  EXPECT_EQ(counts, std::vector<int>(100, 1));
}

#ifdef TESSERA_HAS_MXCSR
TEST(ThreadPool, workersHaveTheDefaultFloatEnvironment) {
  unsigned saved = _mm_getcsr();
  _mm_setcsr(0x9FC0); // FTZ and DAZ; new threads inherit it
  std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 20; ++i)
    parallelFor(64, 9, [&](int64_t, int64_t) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      if (std::this_thread::get_id() != caller)
        wrong += (_mm_getcsr() & ~0x3Fu) != kDefaultMxcsr;
    });
  _mm_setcsr(saved);
  EXPECT_EQ(wrong, 0);
}
#endif

#ifndef __SANITIZE_THREAD__ // which forbids threads after a fork
TEST(ThreadPool, startsAnewAfterAFork) {
  ASSERT_TRUE(runsEachTileOnce(100, 3));
  pid_t child = fork();
  if (child == 0) {
    bool ok = participants(3, 20).size() == 3 && runsEachTileOnce(100, 3);
    _exit(ok ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(runsEachTileOnce(100, 3));
}
#endif
