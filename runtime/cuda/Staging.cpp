// Copies in chunks, two of them under way at a time.
#include "runtime/cuda/Staging.h"

#include <algorithm>
#include <cstring>

namespace tessera::runtime::cuda {

Staging::~Staging() {
  QuietContextScope current(gpu);
  if (!current)
    return;
  for (Chunk &chunk : chunks) {
    if (chunk.event)
      gpu.driver().eventSynchronize(chunk.event->get());
    if (chunk.data)
      gpu.driver().memFreeHost(chunk.data);
  }
}

// A chunk that no copy uses any more; the context is current.
Staging::Chunk &Staging::ready(size_t index) {
  Chunk &chunk = chunks[index % chunks.size()];
  if (!chunk.data) {
    constexpr unsigned kPortable = 1; // CU_MEMHOSTALLOC_PORTABLE
    Result result = gpu.driver().memAllocHost(&chunk.data, kChunk, kPortable);
    if (result == Result::OutOfMemory)
      throw OutOfMemoryError(kChunk, 0, runtime::Allocator::kNoLimit);
    gpu.check(result, "pinning memory for copies");
  }
  if (!chunk.event)
    chunk.event.emplace(gpu);
  else
    chunk.event->synchronize();
  return chunk;
}

// Marks a copy that was just given to the stream. A chunk whose copy has no
// mark would be used again too early.
void Staging::mark(Chunk &chunk, Stream &stream) {
  try {
    chunk.event->record(stream);
  } catch (...) {
    gpu.driver().streamSynchronize(stream.get());
    throw;
  }
}

void Staging::upload(DevicePointer to, const void *from, size_t bytes,
                     Stream &stream) {
  gpu.checkAlive();
  std::lock_guard guard(mutex);
  ContextScope current(gpu);
  auto *source = static_cast<const char *>(from);
  for (size_t i = 0; i * kChunk < bytes; ++i) {
    size_t offset = i * kChunk, part = std::min(kChunk, bytes - offset);
    Chunk &chunk = ready(i);
    std::memcpy(chunk.data, source + offset, part);
    stream.check(
        gpu.driver().copyToDevice(to + offset, chunk.data, part, stream.get()),
        "copying " + std::to_string(bytes) + " bytes to the GPU");
    mark(chunk, stream);
  }
}

void Staging::download(void *to, DevicePointer from, size_t bytes,
                       Stream &stream) {
  gpu.checkAlive();
  std::lock_guard guard(mutex);
  ContextScope current(gpu);
  const std::string what =
      "copying " + std::to_string(bytes) + " bytes from the GPU";
  size_t parts = (bytes + kChunk - 1) / kChunk;
  auto sizeOf = [&](size_t i) { return std::min(kChunk, bytes - i * kChunk); };
  for (size_t i = 0; i < parts + 1; ++i) {
    if (i < parts) {
      Chunk &chunk = ready(i);
      stream.check(gpu.driver().copyToHost(chunk.data, from + i * kChunk,
                                           sizeOf(i), stream.get()),
                   what);
      mark(chunk, stream);
    }
    if (i > 0) {
      Chunk &chunk = chunks[(i - 1) % chunks.size()];
      stream.check(gpu.driver().eventSynchronize(chunk.event->get()), what);
      std::memcpy(static_cast<char *>(to) + (i - 1) * kChunk, chunk.data,
                  sizeOf(i - 1));
    }
  }
}

} // namespace tessera::runtime::cuda
