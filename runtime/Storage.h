// A reference-counted buffer of bytes on a device.
#pragma once

#include "runtime/Device.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace tessera::runtime {

// A handle; copies share the bytes. A handle itself is not thread-safe, the
// count is: copies may be used and destroyed on any thread.
class Storage {
public:
  // No buffer.
  Storage() = default;

  // New bytes, 64-byte aligned, not initialised: of the host, or of a GPU for
  // its default stream. Throws OutOfMemoryError and cuda::DeviceError.
  static Storage allocate(size_t bytes, Device device = {});

  // Someone else's bytes. `release` is called once, when the last handle goes,
  // also if this call throws; it may be empty.
  static Storage borrow(void *data, size_t bytes,
                        std::function<void()> release = {}, Device device = {});

  // `bytes` bytes of `parent` from `offset` on; keeps the parent's alive.
  // std::out_of_range if they do not lie in it.
  static Storage view(const Storage &parent, size_t offset, size_t bytes);

  Storage(const Storage &other) : buffer(other.buffer) { retain(buffer); }
  Storage(Storage &&other) noexcept
      : buffer(std::exchange(other.buffer, nullptr)) {}
  Storage &operator=(Storage other) noexcept {
    std::swap(buffer, other.buffer);
    return *this;
  }
  ~Storage() { release(buffer); }

  explicit operator bool() const { return buffer; }
  void *data() const { return buffer ? buffer->data : nullptr; }
  size_t bytes() const { return buffer ? buffer->bytes : 0; }
  Device device() const { return buffer ? buffer->device : Device(); }

  // The same bytes as memory of that device, as far as who can reach it goes:
  // this storage if they are there, else a copy. A copy from a GPU waits for
  // it; one to a GPU has read the bytes when this returns. Throws as allocate()
  // does.
  Storage on(Device device) const;
  // Those bytes in the memory of the host.
  Storage onHost() const { return on(Device()); }

  // Whether this is the only handle: no other, and no view, sees the bytes.
  bool isUnique() const;

  // Whether a result may overwrite the bytes: unique, and from the allocator.
  bool canDonate() const;

  // Whether two handles hold the same buffer (a view is another one).
  friend bool operator==(const Storage &a, const Storage &b) {
    return a.buffer == b.buffer;
  }

private:
  enum class Origin : uint8_t { Owned, Borrowed, View };
  struct alignas(64) Buffer {
    void *data;
    size_t bytes;
    Device device;
    Origin origin;
    std::atomic<uint32_t> references{1};
    Buffer *parent = nullptr; // of a view; never a view itself
    std::unique_ptr<std::function<void()>> release = {}; // of what is borrowed
  };
  explicit Storage(Buffer *buffer) : buffer(buffer) {}

  static void retain(Buffer *b) {
    if (b)
      b->references.fetch_add(1, std::memory_order_relaxed);
  }
  static void release(Buffer *b) {
    if (b && b->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      destroy(b);
  }
  static void destroy(Buffer *b);

  Buffer *buffer = nullptr;
};

} // namespace tessera::runtime
