// Shared memory: layout, poison and the state of each byte.
#include "runtime/sim/SharedMemory.h"

#include <algorithm>
#include <cstring>

namespace tessera::runtime::sim {

// The strictest alignment that anything in shared memory asks for.
static constexpr size_t kAlignment = 1024;

SharedMemory::SharedMemory(const tessera_sim_kernel &kernel,
                           uint32_t dynamicBytes)
    : kernel(kernel), dynamicBytes(dynamicBytes) {
  size_t bytes = size_t(kernel.dynamic_offset) + dynamicBytes;
  // What is near is ours, so that a stray access harms nobody even unchecked.
  storage.reset(new char[bytes + kAlignment + 2 * kMargin]);
  auto address = reinterpret_cast<uintptr_t>(storage.get()) + kMargin;
  memory = reinterpret_cast<char *>((address + kAlignment - 1) / kAlignment *
                                    kAlignment);
  fresh.assign(bytes, Gap);
  for (uint32_t i = 0; i < kernel.num_arrays; ++i)
    std::fill_n(fresh.begin() + ptrdiff_t(kernel.arrays[i].offset),
                kernel.arrays[i].bytes, Poisoned);
  std::fill(fresh.begin() + kernel.dynamic_offset, fresh.end(), Poisoned);
  states = fresh;
}

void SharedMemory::reset() {
  std::memset(memory, 0xff, states.size());
  states = fresh;
}

bool SharedMemory::contains(const void *address, size_t count) const {
  size_t offset = offsetOf(address);
  if (offset > states.size() || count > states.size() - offset)
    return false;
  return std::none_of(states.begin() + ptrdiff_t(offset),
                      states.begin() + ptrdiff_t(offset + count),
                      [](uint8_t state) { return state == Gap; });
}

bool SharedMemory::isInitialised(size_t offset, size_t count) const {
  return std::all_of(states.begin() + ptrdiff_t(offset),
                     states.begin() + ptrdiff_t(offset + count),
                     [](uint8_t state) { return state == Initialised; });
}

bool SharedMemory::isPending(size_t offset, size_t count) const {
  return std::any_of(states.begin() + ptrdiff_t(offset),
                     states.begin() + ptrdiff_t(offset + count),
                     [](uint8_t state) { return state == Pending; });
}

void SharedMemory::markInitialised(size_t offset, size_t count) {
  std::memset(states.data() + offset, Initialised, count);
}

void SharedMemory::markPending(size_t offset, size_t count) {
  std::memset(states.data() + offset, Pending, count);
}

std::string SharedMemory::describe(const void *address) const {
  const ptrdiff_t offset = static_cast<const char *>(address) - memory;
  // The last array that starts at or before the address, else the first one.
  std::string name = "dynamic shared memory";
  ptrdiff_t start = kernel.dynamic_offset;
  ptrdiff_t size = dynamicBytes;
  if (kernel.num_arrays && (offset < start || dynamicBytes == 0)) {
    const tessera_sim_array *array = kernel.arrays;
    for (uint32_t i = 1; i < kernel.num_arrays; ++i)
      if (ptrdiff_t(kernel.arrays[i].offset) <= offset)
        array = &kernel.arrays[i];
    name = std::string("@") + (kernel.strings + array->name);
    start = ptrdiff_t(array->offset);
    size = ptrdiff_t(array->bytes);
  }
  return "byte " + std::to_string(offset - start) + " of " + name + " (" +
         std::to_string(size) + " bytes)";
}

} // namespace tessera::runtime::sim
