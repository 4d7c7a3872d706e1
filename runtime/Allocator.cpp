// The caching allocator: one list of free blocks a size class, one light lock.
#include "runtime/Allocator.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(data, bytes) ((void)(data), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(data, bytes) ((void)(data), (void)(bytes))
#endif

namespace tessera::runtime {

namespace {

constexpr size_t kHugePage = size_t(2) << 20;
// Blocks from here on are mapped; smaller ones come from the C library.
constexpr size_t kMapFrom = size_t(1) << 20;
// Blocks kept may exceed the peak in use by this much in any case.
constexpr size_t kSlack = size_t(256) << 20;
constexpr int kMaxLog2 = 47;
constexpr size_t kMaxBytes = size_t(1) << kMaxLog2;
constexpr int kClasses = 8 + (kMaxLog2 - 9) * 8;

struct SizeClass {
  int index;
  size_t bytes;
};

// Multiples of 64 up to 512, then eight steps per power of two.
constexpr SizeClass classOf(size_t bytes) {
  if (bytes <= 512) {
    size_t lines = bytes == 0 ? 1 : (bytes + 63) / 64;
    return {int(lines) - 1, lines * 64};
  }
  int log2 = int(std::bit_width(bytes - 1)); // 2^(log2-1) < bytes <= 2^log2
  size_t half = size_t(1) << (log2 - 1), step = half / 8;
  size_t steps = (bytes - 1 - half) / step;
  return {8 + (log2 - 10) * 8 + int(steps), half + (steps + 1) * step};
}
static_assert(classOf(0).bytes == 64 && classOf(513).index == 8 &&
              classOf(513).bytes == 576 && classOf(1024).bytes == 1024 &&
              classOf(1025).index == 16 &&
              classOf(kMaxBytes).index == kClasses - 1);

// A free block: only this header is read, the rest is poisoned.
struct FreeBlock {
  FreeBlock *next;
  size_t bytes;
};

// Critical sections are a few loads and stores, so waiters spin; they yield in
// case the holder has lost its core.
class SpinLock {
public:
  void lock() noexcept {
    while (flag.exchange(true, std::memory_order_acquire))
      wait();
  }
  void unlock() noexcept { flag.store(false, std::memory_order_release); }

private:
  void wait() noexcept {
    for (int i = 0; flag.load(std::memory_order_relaxed); ++i) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
      if (i >= 64)
        sched_yield();
    }
  }
  std::atomic<bool> flag{false};
};

// Maps pages aligned to the page that may back them; null on failure.
void *mapPages(size_t bytes) {
  size_t extra = bytes >= kHugePage ? kHugePage : 0;
  void *mapped = mmap(nullptr, bytes + extra, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return nullptr;
  if (!extra)
    return mapped;
  auto start = reinterpret_cast<uintptr_t>(mapped);
  size_t before = (kHugePage - start % kHugePage) % kHugePage;
  char *data = static_cast<char *>(mapped) + before;
  if (before)
    munmap(mapped, before);
  if (before < extra)
    munmap(data + bytes, extra - before);
#ifdef MADV_HUGEPAGE
  madvise(data, bytes, MADV_HUGEPAGE);
#endif
  return data;
}

void *obtain(size_t bytes) {
  if (bytes >= kMapFrom)
    return mapPages(bytes);
  return std::aligned_alloc(Allocator::kAlignment, bytes);
}

void giveBack(FreeBlock *blocks) {
  while (blocks) {
    FreeBlock *next = blocks->next;
    size_t bytes = blocks->bytes;
    ASAN_UNPOISON_MEMORY_REGION(blocks, bytes);
    if (bytes >= kMapFrom)
      munmap(blocks, bytes);
    else
      std::free(blocks);
    blocks = next;
  }
}

} // namespace

// Everything is guarded by `lock`; the system is called without it.
struct Allocator::State {
  mutable SpinLock lock;
  size_t inUse = 0, peak = 0, cached = 0;
  size_t limit = kNoLimit;
  uint64_t allocations = 0, hits = 0;
  FreeBlock *free[kClasses] = {};

  void use(size_t bytes) {
    inUse += bytes;
    peak = std::max(peak, inUse);
  }

  // Takes blocks, largest first, off the lists until `most` bytes are kept.
  FreeBlock *trim(size_t most) {
    FreeBlock *taken = nullptr;
    for (int i = kClasses - 1; i >= 0 && cached > most; --i)
      while (free[i] && cached > most) {
        FreeBlock *block = free[i];
        free[i] = block->next;
        cached -= block->bytes;
        block->next = taken;
        taken = block;
      }
    return taken;
  }

  // How many bytes may be kept when `bytes` more are about to be in use.
  size_t mostCached(size_t bytes) const {
    size_t wanted = inUse + bytes;
    size_t byPeak = 2 * std::max(peak, wanted) + kSlack;
    return std::min(byPeak, limit) - std::min(wanted, limit);
  }
};

OutOfMemoryError::OutOfMemoryError(size_t requested, size_t inUse, size_t limit)
    : requested(requested), inUse(inUse), limit(limit) {
  int used = std::snprintf(text, sizeof text,
                           "out of memory: %zu bytes asked for, %zu in use",
                           requested, inUse);
  if (limit != Allocator::kNoLimit)
    std::snprintf(text + used, sizeof text - size_t(used), ", limit %zu",
                  limit);
}

Allocator::Allocator() : state(new State) {}

Allocator &Allocator::host() {
  // A thread that holds the lock does not exist in the child of a fork, so the
  // forking thread takes it first.
  static Allocator *instance = [] {
    pthread_atfork([] { host().state->lock.lock(); },
                   [] { host().state->lock.unlock(); },
                   [] { host().state->lock.unlock(); });
    return new Allocator;
  }();
  return *instance;
}

size_t Allocator::roundUp(size_t bytes) { return classOf(bytes).bytes; }

void *Allocator::allocate(size_t bytes) {
  State &s = *state;
  if (bytes > kMaxBytes)
    throw OutOfMemoryError(bytes, stats().bytesInUse, limit());
  SizeClass size = classOf(bytes);
  FreeBlock *surplus;
  {
    std::lock_guard guard(s.lock);
    ++s.allocations;
    if (FreeBlock *block = s.free[size.index]) {
      s.free[size.index] = block->next;
      s.cached -= size.bytes;
      s.use(size.bytes);
      ++s.hits;
      ASAN_POISON_MEMORY_REGION(block, size.bytes);
      ASAN_UNPOISON_MEMORY_REGION(block, bytes);
      return block;
    }
    surplus = s.trim(s.mostCached(size.bytes));
    // Reserved before it is there, so that threads together keep the limit.
    if (s.inUse + size.bytes <= s.limit)
      s.use(size.bytes);
    else
      size.index = -1;
  }
  giveBack(surplus);
  if (size.index < 0)
    throw OutOfMemoryError(bytes, stats().bytesInUse, limit());
  void *data = obtain(size.bytes);
  if (!data) {
    releaseCache();
    data = obtain(size.bytes);
  }
  if (!data) {
    std::lock_guard guard(s.lock);
    s.inUse -= size.bytes;
    throw OutOfMemoryError(bytes, s.inUse, s.limit);
  }
  ASAN_POISON_MEMORY_REGION(data, size.bytes);
  ASAN_UNPOISON_MEMORY_REGION(data, bytes);
  return data;
}

void Allocator::deallocate(void *data, size_t bytes) noexcept {
  if (!data)
    return;
  State &s = *state;
  SizeClass size = classOf(bytes);
  auto *block = static_cast<FreeBlock *>(data);
  ASAN_POISON_MEMORY_REGION(block, size.bytes);
  ASAN_UNPOISON_MEMORY_REGION(block, sizeof(FreeBlock));
  block->bytes = size.bytes;
  std::lock_guard guard(s.lock);
  assert(s.inUse >= size.bytes && "freed with another size");
  block->next = s.free[size.index];
  s.free[size.index] = block;
  s.inUse -= size.bytes;
  s.cached += size.bytes;
}

AllocatorStats Allocator::stats() const {
  std::lock_guard guard(state->lock);
  return {state->inUse, state->peak, state->cached, state->allocations,
          state->hits};
}

void Allocator::resetPeak() {
  std::lock_guard guard(state->lock);
  state->peak = state->inUse;
}

void Allocator::setLimit(size_t bytes) {
  FreeBlock *surplus;
  {
    std::lock_guard guard(state->lock);
    state->limit = bytes;
    surplus = state->trim(bytes - std::min(bytes, state->inUse));
  }
  giveBack(surplus);
}

size_t Allocator::limit() const {
  std::lock_guard guard(state->lock);
  return state->limit;
}

void Allocator::releaseCache() noexcept {
  FreeBlock *blocks;
  {
    std::lock_guard guard(state->lock);
    blocks = state->trim(0);
  }
  giveBack(blocks);
}

} // namespace tessera::runtime
