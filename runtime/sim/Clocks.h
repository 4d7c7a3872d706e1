// Vector clocks: which thread of a block knows what of the others' past.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace tessera::runtime::sim {

// A time of each thread of a block, by index.
using VectorClock = std::vector<uint32_t>;

// What several threads did before they met: the later time of each.
struct Meeting {
  std::shared_ptr<VectorClock> times;
  std::shared_ptr<const VectorClock> merged; // what was merged last
};

// The happens-before relation between the threads of a block. An access at the
// own time t of thread a happens before what thread b does now if b knows t or
// a later time of a.
class Clocks {
public:
  void reset(uint32_t threads);

  uint32_t now(uint32_t thread) const { return lanes[thread].now; }
  bool happensBefore(uint32_t a, uint32_t time, uint32_t b) const {
    return a == b || time <= (*lanes[b].known)[a];
  }

  // Adds what `thread` did and knows to the meeting.
  void release(uint32_t thread, Meeting &meeting);
  // From now on `thread` knows what the meeting does.
  void acquire(uint32_t thread, const Meeting &meeting);

  // An atomic operation at `address`, and a fence: by the PTX memory model a
  // release is a fence or .release before a write, an acquire is a read before
  // a fence or .acquire.
  void atomic(uint32_t thread, uintptr_t address, bool reads, bool writes,
              bool acquires, bool releases);
  void fence(uint32_t thread, bool acquires, bool releases);

private:
  struct Lane {
    uint32_t now = 1;
    std::shared_ptr<const VectorClock> known;
    // What the last fence publishes, and what the next one will make known.
    Meeting published, seen;
  };

  std::vector<Lane> lanes;
  std::unordered_map<uintptr_t, Meeting> places;
};

} // namespace tessera::runtime::sim
