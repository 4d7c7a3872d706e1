// Puts the accesses and branches of single lanes together into what a warp
// would have done at once, and counts what that costs.
#pragma once

#include "runtime/sim/Counters.h"

#include <cstddef>
#include <deque>
#include <vector>

namespace tessera::runtime::sim {

// The log of one warp. Lanes run one after the other, so the n-th time that a
// lane comes to a site since the last flush belongs to the n-th time of the
// others.
class RequestLog {
public:
  enum class Kind : uint8_t { Shared, Global, Branch };

  void reset(size_t sites);

  // `address` is an offset for shared memory; `value` is the number of bytes,
  // or whether a branch is taken. `present` are the lanes of the warp.
  void add(uint32_t lane, uint32_t present, uint32_t site, Kind kind,
           uintptr_t address, uint32_t value, Counters &counters);

  // Counts what is not complete: some lanes took another way.
  void flush(Counters &counters);

private:
  struct Request {
    uint32_t lanes = 0;
    uint32_t value = 0;
    uint32_t taken = 0;
    Kind kind = Kind::Shared;
    uintptr_t address[32];
  };
  struct Site {
    uint32_t first = 0; // which time of the site the front of the queue is
    uint32_t times[32] = {};
    std::deque<Request> requests;
  };

  static void count(const Request &request, Counters &counters);

  std::vector<Site> sites;
  std::vector<uint32_t> used;
};

} // namespace tessera::runtime::sim
