// The caching allocator of a GPU's memory, in the order of its streams.
#pragma once

#include "runtime/cuda/Device.h"

#include <list>
#include <map>
#include <unordered_map>
#include <vector>

namespace tessera::runtime::cuda {

class Event;

// The memory of the GPU, or the limit, does not suffice. Everything stays
// usable: drop tensors and try again.
class OutOfDeviceMemory : public OutOfMemoryError {
public:
  OutOfDeviceMemory(const Gpu &gpu, size_t requested,
                    const AllocatorStats &stats, size_t limit);
  // For memory that the driver takes itself.
  explicit OutOfDeviceMemory(const std::string &text);
  const char *what() const noexcept override { return text.c_str(); }

private:
  std::string text;
};

// A block belongs to the stream it was allocated for: work given to that stream
// afterwards may use it, and once it is freed later work of the stream may get
// the same block without any waiting. Freed blocks are kept, by size class, for
// their stream. All functions may be called from any thread.
class Allocator {
public:
  explicit Allocator(Gpu &gpu);
  // Gives every block that is kept back to the driver.
  ~Allocator();
  Allocator(const Allocator &) = delete;
  Allocator &operator=(const Allocator &) = delete;

  static constexpr size_t kAlignment = 256;
  static constexpr size_t kNoLimit = ~size_t(0);

  // Memory for `bytes`, aligned to 256 bytes, not initialised, never null.
  // Throws OutOfDeviceMemory, after everything that is kept was given back, and
  // DeviceError.
  [[nodiscard]] DevicePointer allocate(size_t bytes, Stream &stream);

  // Frees what allocate() returned, after the work that its stream, and those
  // of recordUse(), have been given by now. Null is ignored.
  void deallocate(DevicePointer data) noexcept;

  // Another stream uses the block, too: it is not given out again before the
  // work that it was given until the block is freed is done.
  void recordUse(DevicePointer data, Stream &other);

  // What allocate(bytes) really reserves.
  static size_t roundUp(size_t bytes);

  AllocatorStats stats() const;
  void resetPeak();

  // Bounds the bytes in use and kept together.
  void setLimit(size_t bytes);
  size_t limit() const;

  // Waits for the GPU, and gives the blocks that are kept back to the driver.
  void releaseCache() noexcept;

  // A stream ends that is idle: its blocks are the default stream's now.
  void adoptBlocksOf(Stream &stream);

private:
  struct Block {
    size_t bytes;
    Stream *stream;
    std::vector<Stream *> others;
  };
  // Freed, but other streams may still be using it.
  struct Pending {
    DevicePointer data;
    Block block;
    std::vector<Event> events;
  };
  using Key = std::pair<Stream *, size_t>;

  DevicePointer takeKept(size_t bytes, Stream &stream);
  void settlePending();
  void keep(DevicePointer data, const Block &block);
  bool obtain(size_t bytes, DevicePointer &data);

  Gpu &gpu;
  mutable std::mutex mutex;
  std::unordered_map<DevicePointer, Block> used;
  std::map<Key, std::vector<DevicePointer>> kept;
  std::list<Pending> pending;
  size_t inUse = 0, peak = 0, cached = 0, bound = kNoLimit;
  uint64_t allocations = 0, hits = 0;
};

// Memory of a GPU that frees itself.
class Memory {
public:
  Memory() = default;
  Memory(Gpu &gpu, size_t bytes);
  Memory(Gpu &gpu, size_t bytes, Stream &stream);
  ~Memory();
  Memory(Memory &&other) noexcept { *this = std::move(other); }
  Memory &operator=(Memory &&other) noexcept;

  DevicePointer get() const { return data; }
  size_t bytes() const { return size; }

private:
  Gpu *gpu = nullptr;
  DevicePointer data = 0;
  size_t size = 0;
};

} // namespace tessera::runtime::cuda
