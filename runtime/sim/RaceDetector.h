// Finds pairs of accesses to shared memory that nothing orders.
#pragma once

#include "runtime/sim/Clocks.h"

#include <optional>

namespace tessera::runtime::sim {

// One access that a later one is not ordered after.
struct Conflict {
  uint32_t thread = 0, site = 0;
  bool wrote = false;
};

// Remembers, for each granule of shared memory, the last write and the reads
// since. Two accesses of different threads are a race if neither happens before
// the other, at least one is a write, and not both are atomic.
class RaceDetector {
public:
  // For a block with `bytes` of shared memory.
  void reset(size_t bytes, uint32_t granule);

  // All threads have met: what lies before is ordered before what comes.
  void forgetAll();

  // The access of `bytes` from `offset`; the conflict, if it has one.
  std::optional<Conflict> access(const Clocks &clocks, uint32_t thread,
                                 uint32_t site, size_t offset, size_t bytes,
                                 bool writes, bool atomic);

private:
  struct Access {
    uint32_t time = 0, site = 0;
    uint16_t thread = kNobody;
    bool atomic = false;
  };
  struct Cell {
    uint32_t generation = 0;
    uint32_t readers = 0; // if not 0, an index into `sets`, plus one
    Access write, read;
  };
  static constexpr uint16_t kNobody = 0xffff;

  std::optional<Conflict> checkWrite(const Clocks &clocks, Cell &cell,
                                     const Access &access);
  void addReader(const Clocks &clocks, Cell &cell, const Access &access);

  std::vector<Cell> cells;
  std::vector<std::vector<Access>> sets; // of concurrent readers
  size_t usedSets = 0;
  uint32_t generation = 0;
  uint32_t granuleShift = 0;
};

} // namespace tessera::runtime::sim
