// A block's shared memory: where its arrays are, and what its bytes hold.
#pragma once

#include "runtime/sim/SimAbi.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace tessera::runtime::sim {

// Static arrays, gaps that nothing may touch, dynamic shared memory. Every byte
// is poisoned before a block starts: 0xff, so that floats are NaNs.
class SharedMemory {
public:
  SharedMemory(const tessera_sim_kernel &kernel, uint32_t dynamicBytes);

  char *base() const { return memory; }
  size_t bytes() const { return states.size(); }
  // The bytes on a device, without the gaps.
  size_t deviceBytes() const { return kernel.static_bytes + dynamicBytes; }

  // Poisons everything; only `initialised` says whether states are kept.
  void reset();

  // Whether the address is in the memory, or so near to it that it must be
  // meant to be.
  bool isNear(const void *address) const {
    return size_t(static_cast<const char *>(address) - memory + kMargin) <
           states.size() + 2 * kMargin;
  }
  size_t offsetOf(const void *address) const {
    return size_t(static_cast<const char *>(address) - memory);
  }
  // Whether all the bytes belong to arrays.
  bool contains(const void *address, size_t count) const;

  // What reads are checked against.
  bool isInitialised(size_t offset, size_t count) const;
  bool isPending(size_t offset, size_t count) const;
  void markInitialised(size_t offset, size_t count);
  // A copy will land there: until then the bytes are what they were, which
  // nobody may rely on.
  void markPending(size_t offset, size_t count);

  // "byte 16 of @tile", for messages; also for addresses just outside.
  std::string describe(const void *address) const;

private:
  enum State : uint8_t { Gap, Poisoned, Pending, Initialised };
  static constexpr size_t kMargin = 4096;

  const tessera_sim_kernel &kernel;
  const uint32_t dynamicBytes;
  std::unique_ptr<char[]> storage;
  char *memory = nullptr;
  std::vector<uint8_t> fresh; // the states when a block starts
  std::vector<uint8_t> states;
};

} // namespace tessera::runtime::sim
