// Blocks of GPU memory, kept by stream and size class.
#include "runtime/cuda/Allocator.h"

#include "runtime/cuda/Stream.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace tessera::runtime::cuda {

namespace {

std::string mebibytes(size_t bytes) {
  return std::to_string((bytes + (size_t(1) << 19)) >> 20) + " MiB";
}

constexpr const char *kAdvice =
    ". Drop tensors, take smaller batches, or use another device";

} // namespace

OutOfDeviceMemory::OutOfDeviceMemory(const std::string &text)
    : OutOfMemoryError(0, 0, Allocator::kNoLimit), text(text + kAdvice) {}

OutOfDeviceMemory::OutOfDeviceMemory(const Gpu &gpu, size_t requested,
                                     const AllocatorStats &stats, size_t limit)
    : OutOfMemoryError(requested, stats.bytesInUse, limit) {
  auto [free, total] = gpu.memory();
  text = "the memory of " + gpu.str() +
         " does not suffice: " + std::to_string(requested) +
         " bytes asked for, " + mebibytes(stats.bytesInUse) +
         " in use by this program";
  if (limit != Allocator::kNoLimit)
    text += " of a limit of " + mebibytes(limit);
  if (total > 0)
    text +=
        ", " + mebibytes(free) + " of " + mebibytes(total) + " free on the GPU";
  text += kAdvice;
}

Allocator::Allocator(Gpu &gpu) : gpu(gpu) {}

Allocator::~Allocator() { releaseCache(); }

size_t Allocator::roundUp(size_t bytes) {
  // The host's size classes, in the GPU's alignment.
  size_t rounded = runtime::Allocator::roundUp(bytes);
  return (std::max(rounded, kAlignment) + kAlignment - 1) / kAlignment *
         kAlignment;
}

DevicePointer Allocator::takeKept(size_t bytes, Stream &stream) {
  auto found = kept.find({&stream, bytes});
  if (found == kept.end() || found->second.empty())
    return 0;
  DevicePointer data = found->second.back();
  found->second.pop_back();
  cached -= bytes;
  ++hits;
  return data;
}

void Allocator::keep(DevicePointer data, const Block &block) {
  kept[{block.stream, block.bytes}].push_back(data);
}

// Blocks whose other users are done become kept ones.
void Allocator::settlePending() {
  for (auto it = pending.begin(); it != pending.end();) {
    if (!std::ranges::all_of(it->events, &Event::isDone)) {
      ++it;
      continue;
    }
    keep(it->data, it->block);
    it = pending.erase(it);
  }
}

// False if the driver has no such memory left.
bool Allocator::obtain(size_t bytes, DevicePointer &data) {
  ContextScope current(gpu);
  Result result = gpu.driver().memAlloc(&data, bytes);
  if (result == Result::OutOfMemory)
    return false;
  gpu.check(result, "allocating " + std::to_string(bytes) + " bytes");
  return true;
}

DevicePointer Allocator::allocate(size_t bytes, Stream &stream) {
  gpu.checkAlive();
  constexpr size_t kLargest = size_t(1) << 46;
  size_t rounded = bytes <= kLargest ? roundUp(bytes) : kNoLimit;
  std::unique_lock lock(mutex);
  ++allocations;
  settlePending();
  DevicePointer data = rounded == kNoLimit ? 0 : takeKept(rounded, stream);
  bool fits = data != 0;
  for (int attempt = 0; !fits && rounded != kNoLimit && attempt < 2;
       ++attempt) {
    // What is kept goes back to the driver only when it is in the way.
    if (attempt > 0 || rounded > bound || inUse + cached > bound - rounded) {
      lock.unlock();
      releaseCache();
      lock.lock();
    }
    if (rounded <= bound && inUse + cached <= bound - rounded)
      fits = obtain(rounded, data);
  }
  if (!fits) {
    AllocatorStats now{inUse, peak, cached, allocations, hits};
    size_t limit = bound;
    lock.unlock();
    throw OutOfDeviceMemory(gpu, bytes, now, limit);
  }
  used[data] = {rounded, &stream, {}};
  inUse += rounded;
  peak = std::max(peak, inUse);
  return data;
}

void Allocator::deallocate(DevicePointer data) noexcept {
  if (!data)
    return;
  std::lock_guard guard(mutex);
  auto found = used.find(data);
  assert(found != used.end() && "freed, but not in use");
  Block block = std::move(found->second);
  used.erase(found);
  inUse -= block.bytes;
  cached += block.bytes;
  std::vector<Event> events;
  try {
    for (Stream *other : block.others) {
      events.emplace_back(gpu);
      events.back().record(*other);
    }
  } catch (...) {
    // Without marks, wait. On a GPU that is lost there is nothing to wait for.
    if (QuietContextScope current(gpu); current)
      for (Stream *other : block.others)
        gpu.driver().streamSynchronize(other->get());
    return keep(data, block);
  }
  if (events.empty())
    return keep(data, block);
  pending.push_back({data, std::move(block), std::move(events)});
}

void Allocator::recordUse(DevicePointer data, Stream &other) {
  std::lock_guard guard(mutex);
  auto found = used.find(data);
  assert(found != used.end() && "used, but not allocated");
  Block &block = found->second;
  if (block.stream != &other && !std::ranges::count(block.others, &other))
    block.others.push_back(&other);
}

void Allocator::releaseCache() noexcept {
  std::lock_guard guard(mutex);
  QuietContextScope current(gpu);
  if (!current || (kept.empty() && pending.empty()))
    return;
  gpu.driver().contextSynchronize();
  for (const Pending &entry : pending)
    keep(entry.data, entry.block);
  pending.clear();
  for (const auto &[key, blocks] : kept)
    for (DevicePointer data : blocks) {
      gpu.driver().memFree(data);
      cached -= key.second;
    }
  kept.clear();
}

void Allocator::adoptBlocksOf(Stream &stream) {
  std::lock_guard guard(mutex);
  Stream *heir = &gpu.stream();
  for (auto it = kept.begin(); it != kept.end();) {
    if (it->first.first != &stream) {
      ++it;
      continue;
    }
    std::vector<DevicePointer> &list = kept[{heir, it->first.second}];
    list.insert(list.end(), it->second.begin(), it->second.end());
    it = kept.erase(it);
  }
  auto replace = [&](Block &block) {
    std::erase(block.others, &stream);
    if (block.stream == &stream)
      block.stream = heir;
  };
  for (auto &[data, block] : used)
    replace(block);
  for (Pending &entry : pending)
    replace(entry.block);
}

AllocatorStats Allocator::stats() const {
  std::lock_guard guard(mutex);
  return {inUse, peak, cached, allocations, hits};
}

void Allocator::resetPeak() {
  std::lock_guard guard(mutex);
  peak = inUse;
}

void Allocator::setLimit(size_t bytes) {
  bool isOver;
  {
    std::lock_guard guard(mutex);
    bound = bytes;
    isOver = inUse + cached > bytes;
  }
  if (isOver)
    releaseCache();
}

size_t Allocator::limit() const {
  std::lock_guard guard(mutex);
  return bound;
}

Memory::Memory(Gpu &gpu, size_t bytes) : Memory(gpu, bytes, gpu.stream()) {}

Memory::Memory(Gpu &gpu, size_t bytes, Stream &stream)
    : gpu(&gpu), data(gpu.allocator().allocate(bytes, stream)), size(bytes) {}

Memory::~Memory() {
  if (gpu)
    gpu->allocator().deallocate(data);
}

Memory &Memory::operator=(Memory &&other) noexcept {
  std::swap(gpu, other.gpu);
  std::swap(data, other.data);
  std::swap(size, other.size);
  return *this;
}

} // namespace tessera::runtime::cuda
