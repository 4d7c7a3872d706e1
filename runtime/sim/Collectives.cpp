// What the lanes of a warp do together: sync, shuffle, vote, redux, match,
// elect. A lane waits until every lane of its mask that has not exited brings
// the same operation and mask.
#include "runtime/sim/Block.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tessera::runtime::sim {

namespace {

// What a lane gets whose source does not exist: a NaN that stands out.
constexpr uint32_t kNoValue = 0x7fbadbad;

template <typename Function> void forEachLane(uint32_t lanes, Function &&each) {
  for (uint32_t rest = lanes; rest; rest &= rest - 1)
    each(std::countr_zero(rest));
}

// The source lane, and whether it is in range. PTX ISA, "shfl.sync", with
// ShflKind: 0 bfly, 1 up, 2 down, 3 idx.
std::pair<int, bool> shuffleSource(int lane, const Arrival &arrival) {
  const int offset = int(arrival.offset & 31);
  const int clamp = int(arrival.clamp & 31);
  const int segments = int(arrival.clamp >> 8 & 31);
  const int maxLane = (lane & segments) | (clamp & ~segments);
  const int minLane = lane & segments;
  int source = lane;
  bool inRange = false;
  switch (arrival.kind) {
  case 0:
    source = lane ^ offset;
    inRange = source <= maxLane;
    break;
  case 1:
    source = lane - offset;
    inRange = source >= maxLane;
    break;
  case 2:
    source = lane + offset;
    inRange = source <= maxLane;
    break;
  default:
    source = minLane | (offset & ~segments);
    inRange = source <= maxLane;
    break;
  }
  return {inRange ? source : lane, inRange};
}

float asFloat(uint32_t bits) { return std::bit_cast<float>(bits); }

// PTX ISA, "redux.sync". ReduxKind: 1 add, 2 and, 3 max, 4 min, 5 or, 6 umax,
// 7 umin, 8 xor, 9 fmin, 10 fmax.
uint32_t combine(uint32_t kind, uint32_t a, uint32_t b, bool propagateNan) {
  auto extremum = [&](bool isMax) {
    float x = asFloat(a), y = asFloat(b);
    if (std::isnan(x) || std::isnan(y)) {
      if (propagateNan || (std::isnan(x) && std::isnan(y)))
        return 0x7fffffffu;
      return std::isnan(x) ? b : a;
    }
    // -0 is less than +0.
    bool less = x < y || (x == y && std::signbit(x) && !std::signbit(y));
    return less == isMax ? b : a;
  };
  switch (kind) {
  case 1:
    return a + b;
  case 2:
    return a & b;
  case 3:
    return uint32_t(std::max(int32_t(a), int32_t(b)));
  case 4:
    return uint32_t(std::min(int32_t(a), int32_t(b)));
  case 5:
    return a | b;
  case 6:
    return std::max(a, b);
  case 7:
    return std::min(a, b);
  case 8:
    return a ^ b;
  case 9:
    return extremum(false);
  default:
    return extremum(true);
  }
}

} // namespace

void Block::meet(Lane &lane, Arrival &arrival) {
  idleYields = 0;
  Warp &warp = warpOf(lane);
  if (!(arrival.mask >> lane.laneid & 1))
    fail(lane, arrival.site, [&] {
      return "lane " + std::to_string(lane.laneid) +
             " executes this and is not in its mask";
    });
  if (arrival.aligned && (warp.present & ~warp.exited) != ~0u)
    fail(lane, arrival.site, [&] {
      return std::string("all 32 lanes of a warp must execute this together, "
                         "and some have exited or do not exist");
    });
  lane.arrival = &arrival;
  lane.site = arrival.site;
  lane.state = LaneState::Waiting;
  warp.arrived |= 1u << lane.laneid;
  bool completed = tryComplete(warp, arrival, &lane);
  if (!completed || launch.config.seed)
    switchAway(lane);
}

// The lanes of the group go on. In order of index the current one just returns;
// in a random order it takes its turn among the others.
bool Block::tryComplete(Warp &warp, const Arrival &arrival,
                        const Lane *current) {
  const uint32_t group = arrival.mask & warp.present & ~warp.exited;
  if ((warp.arrived & group) != group)
    return false;
  for (uint32_t rest = group; rest; rest &= rest - 1)
    if (!laneOf(warp, std::countr_zero(rest)).arrival->meets(arrival))
      return false;
  complete(warp, group);
  warp.arrived &= ~group;
  forEachLane(group, [&](int index) {
    Lane &lane = laneOf(warp, index);
    if (&lane != current || launch.config.seed)
      wake(lane);
    else
      lane.state = LaneState::Ready, lane.arrival = nullptr;
  });
  return true;
}

void Block::complete(Warp &warp, uint32_t group) {
  ++count.collectives;
  switch (laneOf(warp, std::countr_zero(group)).arrival->what) {
  case Collective::WarpSync:
    if (launch.checks().race) {
      Meeting meeting;
      forEachLane(group, [&](int lane) {
        clocks.release(warp.first + uint32_t(lane), meeting);
      });
      forEachLane(group, [&](int lane) {
        clocks.acquire(warp.first + uint32_t(lane), meeting);
      });
    }
    return;
  case Collective::Shuffle:
    return shuffle(warp, group);
  case Collective::Vote:
    return vote(warp, group);
  case Collective::Redux:
    return redux(warp, group);
  case Collective::Match:
    return match(warp, group);
  case Collective::Elect:
    forEachLane(group, [&](int lane) {
      laneOf(warp, lane).arrival->value = lane == std::countr_zero(group);
    });
    return;
  case Collective::LoadMatrix:
    return loadMatrix(warp);
  case Collective::Mma:
    return multiply(warp);
  }
}

void Block::shuffle(Warp &warp, uint32_t group) {
  uint32_t values[32] = {};
  forEachLane(group, [&](int lane) {
    values[lane] = uint32_t(laneOf(warp, lane).arrival->value);
  });
  forEachLane(group, [&](int index) {
    Lane &lane = laneOf(warp, index);
    Arrival &arrival = *lane.arrival;
    auto [source, inRange] = shuffleSource(index, arrival);
    bool exists = group >> source & 1;
    if (!exists && launch.checks().init)
      fail(lane, arrival.site, [&] {
        return "the value comes from lane " + std::to_string(source) +
               ", which does not take part: its value is undefined";
      });
    arrival.value = (exists ? values[source] : kNoValue) | uint64_t(inRange)
                                                               << 32;
  });
}

// PTX ISA, "vote.sync". VoteSyncKind: 0 any, 1 all, 2 ballot, 3 uni.
void Block::vote(Warp &warp, uint32_t group) {
  uint32_t ballot = 0;
  forEachLane(group, [&](int lane) {
    ballot |= uint32_t(laneOf(warp, lane).arrival->value != 0) << lane;
  });
  const uint32_t results[] = {ballot != 0, ballot == group, ballot,
                              ballot == 0 || ballot == group};
  forEachLane(group, [&](int lane) {
    Arrival &arrival = *laneOf(warp, lane).arrival;
    arrival.value = results[arrival.kind];
  });
}

void Block::redux(Warp &warp, uint32_t group) {
  const Arrival &first = *laneOf(warp, std::countr_zero(group)).arrival;
  uint32_t sum = uint32_t(first.value);
  forEachLane(group & (group - 1), [&](int lane) {
    sum = combine(first.kind, sum, uint32_t(laneOf(warp, lane).arrival->value),
                  first.clamp != 0);
  });
  forEachLane(group,
              [&](int lane) { laneOf(warp, lane).arrival->value = sum; });
}

// PTX ISA, "match.sync". MatchSyncKind: 0 any, 1 all.
void Block::match(Warp &warp, uint32_t group) {
  uint64_t results[32] = {};
  forEachLane(group, [&](int lane) {
    const Arrival &arrival = *laneOf(warp, lane).arrival;
    uint32_t same = 0;
    forEachLane(group, [&](int other) {
      same |= uint32_t(laneOf(warp, other).arrival->value == arrival.value)
              << other;
    });
    if (arrival.kind == 0)
      results[lane] = same;
    else
      results[lane] = same == group ? group | uint64_t(1) << 32 : 0;
  });
  forEachLane(group, [&](int lane) {
    laneOf(warp, lane).arrival->value = results[lane];
  });
}

} // namespace tessera::runtime::sim

using namespace tessera::runtime::sim;

static uint64_t meetAs(tessera_sim_lane *self, Arrival arrival) {
  auto &lane = *static_cast<Lane *>(self);
  lane.block->meet(lane, arrival);
  return arrival.value;
}

void tessera_sim_warp_sync(tessera_sim_lane *lane, uint32_t mask,
                           uint32_t site) {
  meetAs(lane, {Collective::WarpSync, 0, mask, site});
}

uint64_t tessera_sim_shuffle(tessera_sim_lane *lane, uint32_t kind,
                             uint32_t mask, uint32_t value, uint32_t offset,
                             uint32_t mask_and_clamp, uint32_t site) {
  return meetAs(lane, {Collective::Shuffle, kind, mask, site, false, value,
                       offset, mask_and_clamp});
}

uint32_t tessera_sim_vote(tessera_sim_lane *lane, uint32_t kind, uint32_t mask,
                          uint32_t predicate, uint32_t site) {
  return uint32_t(
      meetAs(lane, {Collective::Vote, kind, mask, site, false, predicate}));
}

uint32_t tessera_sim_redux(tessera_sim_lane *lane, uint32_t kind, uint32_t mask,
                           uint32_t value, uint32_t propagate_nan,
                           uint32_t site) {
  return uint32_t(meetAs(lane, {Collective::Redux, kind, mask, site, false,
                                value, 0, propagate_nan}));
}

uint64_t tessera_sim_match(tessera_sim_lane *lane, uint32_t all, uint32_t mask,
                           uint64_t value, uint32_t site) {
  return meetAs(lane, {Collective::Match, all, mask, site, false, value});
}

uint32_t tessera_sim_elect(tessera_sim_lane *lane, uint32_t mask,
                           uint32_t site) {
  return uint32_t(meetAs(lane, {Collective::Elect, 0, mask, site}));
}
