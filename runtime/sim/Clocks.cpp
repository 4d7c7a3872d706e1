// Vector clocks: meetings, atomics and fences.
#include "runtime/sim/Clocks.h"

#include <algorithm>

namespace tessera::runtime::sim {

namespace {

void merge(VectorClock &into, const VectorClock &from) {
  for (size_t i = 0; i < into.size(); ++i)
    into[i] = std::max(into[i], from[i]);
}

// Adds one meeting's times to another's, which others may refer to.
void merge(Meeting &into, const Meeting &from) {
  if (!from.times)
    return;
  into.times = into.times ? std::make_shared<VectorClock>(*into.times)
                          : std::make_shared<VectorClock>(from.times->size());
  merge(*into.times, *from.times);
}

} // namespace

void Clocks::reset(uint32_t threads) {
  auto nothing = std::make_shared<const VectorClock>(threads);
  lanes.assign(threads, Lane{1, nothing, {}, {}});
  places.clear();
}

void Clocks::release(uint32_t thread, Meeting &meeting) {
  Lane &lane = lanes[thread];
  if (!meeting.times)
    meeting.times = std::make_shared<VectorClock>(*lane.known);
  else if (meeting.merged != lane.known)
    merge(*meeting.times, *lane.known);
  meeting.merged = lane.known;
  uint32_t &time = (*meeting.times)[thread];
  time = std::max(time, lane.now);
  ++lane.now;
}

void Clocks::acquire(uint32_t thread, const Meeting &meeting) {
  if (meeting.times)
    lanes[thread].known = meeting.times;
}

void Clocks::fence(uint32_t thread, bool acquires, bool releases) {
  Lane &lane = lanes[thread];
  if (acquires && lane.seen.times) {
    merge(lane.seen,
          Meeting{std::make_shared<VectorClock>(*lane.known), nullptr});
    acquire(thread, lane.seen);
    lane.seen = {};
  }
  if (releases) {
    lane.published = {};
    release(thread, lane.published);
  }
}

void Clocks::atomic(uint32_t thread, uintptr_t address, bool reads, bool writes,
                    bool acquires, bool releases) {
  Lane &lane = lanes[thread];
  Meeting &place = places[address];
  if (reads)
    merge(lane.seen, place);
  if (reads && acquires)
    fence(thread, /*acquires=*/true, /*releases=*/false);
  if (!writes)
    return;
  if (releases)
    fence(thread, /*acquires=*/false, /*releases=*/true);
  // A plain write ends the release sequence of the one before; an atomic that
  // reads and writes carries it on.
  if (!reads)
    place = {};
  merge(place, lane.published);
}

} // namespace tessera::runtime::sim
