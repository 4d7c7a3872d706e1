// Copies between ordinary memory of the host and a GPU, through pinned memory.
#pragma once

#include "runtime/cuda/Stream.h"

#include <array>
#include <optional>

namespace tessera::runtime::cuda {

// The GPU reads and writes the host's memory by itself only where it is pinned,
// and pinning is slow: so copies go through two pinned chunks, one being filled
// while the other is under way. Thread-safe; copies of one GPU take turns.
class Staging {
public:
  explicit Staging(Gpu &gpu) : gpu(gpu) {}
  ~Staging();
  Staging(const Staging &) = delete;
  Staging &operator=(const Staging &) = delete;

  static constexpr size_t kChunk = size_t(4) << 20;

  // `from` has been read when this returns; the bytes arrive in stream order.
  void upload(DevicePointer to, const void *from, size_t bytes, Stream &stream);

  // `to` is written when this returns, with what the stream's earlier work left
  // there.
  void download(void *to, DevicePointer from, size_t bytes, Stream &stream);

private:
  struct Chunk {
    void *data = nullptr;
    std::optional<Event> event; // the last copy from or to it
  };
  Chunk &ready(size_t index);
  void mark(Chunk &chunk, Stream &stream);

  Gpu &gpu;
  std::mutex mutex;
  std::array<Chunk, 2> chunks;
};

} // namespace tessera::runtime::cuda
