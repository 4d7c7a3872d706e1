// What a launch did, as far as the emulator can know it.
#pragma once

#include <cstdint>
#include <string>

namespace tessera::runtime::sim {

// Sums over all blocks of a launch. A request is one access that the lanes of a
// warp make together.
//
// X(name, what it counts)
#define TESSERA_SIM_COUNTERS(X)                                                \
  X(blocks, "blocks")                                                          \
  X(threads, "threads")                                                        \
  X(operations, "operations executed by all threads")                          \
  X(switches, "switches between threads")                                      \
  X(barriers, "barriers of a block that completed")                            \
  X(collectives, "shuffles, votes and the like that completed")                \
  X(branches, "conditional branches of warps")                                 \
  X(divergentBranches, "of these, those that split a warp")                    \
  X(globalRequests, "requests to global memory")                               \
  X(globalBytes, "bytes that they ask for")                                    \
  X(globalSectors, "32-byte sectors that they touch")                          \
  X(sharedRequests, "requests to shared memory")                               \
  X(sharedBytes, "bytes that they ask for")                                    \
  X(bankConflicts, "extra passes because lanes met in a bank")                 \
  X(atomics, "atomic accesses of threads")                                     \
  X(asyncBytes, "bytes copied by cp.async")

struct Counters {
#define X(name, help) uint64_t name = 0;
  TESSERA_SIM_COUNTERS(X)
#undef X

  Counters &operator+=(const Counters &other) {
#define X(name, help) name += other.name;
    TESSERA_SIM_COUNTERS(X)
#undef X
    return *this;
  }

  // The counters that are not zero as a JSON object.
  std::string json() const;

  // One line a counter that is not zero: its value and what it counts.
  std::string describe() const;
};

} // namespace tessera::runtime::sim
