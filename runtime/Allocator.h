// The caching allocator of host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace tessera::runtime {

// Thrown when the memory, or the limit, does not suffice.
class OutOfMemoryError : public std::bad_alloc {
public:
  OutOfMemoryError(size_t requested, size_t inUse, size_t limit);
  const char *what() const noexcept override { return text; }
  const size_t requested, inUse, limit; // bytes

private:
  char text[160];
};

struct AllocatorStats {
  size_t bytesInUse;    // of blocks handed out, rounded up to size classes
  size_t bytesPeak;     // the most that bytesInUse was
  size_t bytesCached;   // of freed blocks kept for reuse
  uint64_t allocations; // calls of allocate
  uint64_t hits;        // those served by a block kept
};

// Freed blocks stay with the process, by size class (eight per power of two),
// so that results do not take fresh, zeroed pages from the kernel each time.
// Large blocks are mapped with huge pages where the kernel gives them. The
// blocks kept plus those in use stay below the limit and below about twice the
// peak in use. All functions may be called from any thread.
class Allocator {
public:
  // The allocator of this process. It is never destroyed, so that static
  // destructors may still free.
  static Allocator &host();

  static constexpr size_t kAlignment = 64;
  static constexpr size_t kNoLimit = ~size_t(0);

  // Memory for `bytes`, aligned to 64 bytes, not initialised, never null.
  // Throws OutOfMemoryError.
  [[nodiscard]] void *allocate(size_t bytes);

  // Gives back what allocate(bytes) returned. Null is ignored.
  void deallocate(void *data, size_t bytes) noexcept;

  // What allocate(bytes) really reserves.
  static size_t roundUp(size_t bytes);

  AllocatorStats stats() const;

  // Starts bytesPeak anew from what is in use now.
  void resetPeak();

  // Bounds the bytes in use and kept together. Blocks kept above it are
  // released at once.
  void setLimit(size_t bytes);
  size_t limit() const;

  // Returns every block that is kept to the system.
  void releaseCache() noexcept;

  Allocator(const Allocator &) = delete;
  Allocator &operator=(const Allocator &) = delete;

private:
  Allocator();
  struct State;
  State *const state;
};

} // namespace tessera::runtime
