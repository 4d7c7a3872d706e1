// The memory that this process computes in, and what it has compiled.
#pragma once

#include "tessera/DType.h"

#include <source_location>

namespace tessera {

/// Sizes are in bytes.
struct MemoryStats {
  size_t in_use = 0; ///< of tensors and of programs that run
  size_t peak = 0;   ///< the most that `in_use` was
  size_t cached = 0; ///< freed, and kept to be used again
  uint64_t allocations = 0;
  uint64_t reused = 0; ///< allocations that took cached memory
};

/// The memory of a device; the CPU and the interpreter share theirs. Throws
/// DeviceError for a device that this build lacks.
MemoryStats
memory_stats(const Device &device = {},
             std::source_location place = std::source_location::current());

/// Forgets all compiled programs; those in use stay until they are done.
void clear_cache();

} // namespace tessera
