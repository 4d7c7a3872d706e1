// The sixteen barriers of a block. PTX ISA, "barrier": threads arrive, and when
// as many have as the barrier expects, those that wait go on.
#include "runtime/sim/Block.h"

#include <algorithm>
#include <bit>

namespace tessera::runtime::sim {

bool Block::isComplete(const Barrier &barrier) const {
  if (barrier.expected)
    return barrier.arrived >= barrier.expected;
  // Every thread: those that have exited count only if they arrived before.
  auto isDone = [&](uint32_t index) {
    return lanes[index].state == LaneState::Done;
  };
  return barrier.arrived == alive + std::count_if(barrier.passed.begin(),
                                                  barrier.passed.end(), isDone);
}

// Counts the lane in. Barriers count warps: lanes that a warp at the end of the
// block lacks arrive with its first lane.
Barrier &Block::arriveAt(Lane &lane, uint32_t id, uint32_t threads,
                         bool predicate, uint32_t site) {
  idleYields = 0;
  const uint32_t whole = uint32_t(warps.size()) * 32;
  if (id >= std::size(barriers))
    fail(lane, site, [&] {
      return "barrier " + std::to_string(id) +
             " does not exist: a block has "
             "barriers 0 to 15";
    });
  if (threads % 32 || threads > whole)
    fail(lane, site, [&] {
      return "a barrier of " + std::to_string(threads) +
             " threads: expected a multiple of 32, at most the " +
             std::to_string(whole) + " of the block";
    });
  Barrier &barrier = barriers[id];
  const uint32_t expected = threads == whole ? 0 : threads;
  if (barrier.arrived && barrier.expected != expected)
    fail(lane, site, [&] {
      return "barrier " + std::to_string(id) + " is used for " +
             std::to_string(expected ? expected : whole) +
             " threads here, and others have arrived at it for " +
             std::to_string(barrier.expected ? barrier.expected : whole);
    });
  barrier.expected = expected;
  ++barrier.arrived;
  if (expected && lane.laneid == 0)
    barrier.arrived += uint32_t(std::popcount(~warpOf(lane).present));
  barrier.count += predicate;
  if (launch.checks().race)
    clocks.release(lane.index, barrier.meeting);
  return barrier;
}

void Block::barrier(Lane &lane, uint32_t id, uint32_t threads, bool predicate,
                    uint32_t site) {
  Barrier &barrier = arriveAt(lane, id, threads, predicate, site);
  lane.state = LaneState::Waiting;
  lane.barrier = int(id);
  lane.site = site;
  barrier.waiting.push_back(lane.index);
  if (!isComplete(barrier))
    return switchAway(lane);
  release(barrier, &lane);
  if (launch.config.seed)
    switchAway(lane);
}

void Block::arrive(Lane &lane, uint32_t id, uint32_t threads, uint32_t site) {
  Barrier &barrier = arriveAt(lane, id, threads, false, site);
  barrier.passed.push_back(lane.index);
  if (isComplete(barrier))
    release(barrier, nullptr);
}

// The barrier is an aligned one: all lanes of a warp execute the same
// instruction, or none of them does. Lane 0 is compared with all others, and
// these with lane 0, so that no warp is looked at 32 times.
void Block::checkAligned(const Barrier &barrier) {
  for (uint32_t index : barrier.waiting) {
    const Lane &lane = lanes[index];
    const Warp &warp = warpOf(lane);
    for (uint32_t rest = lane.laneid ? 1 : warp.present; rest;
         rest &= rest - 1) {
      const Lane &other = laneOf(warp, std::countr_zero(rest));
      if (other.state == LaneState::Waiting && other.barrier == lane.barrier &&
          other.site == lane.site)
        continue;
      fail(lane, lane.site, [&] { return divergence(lane, other); });
    }
  }
}

void Block::release(Barrier &barrier, const Lane *current) {
  checkAligned(barrier);
  ++count.barriers;
  const bool everybody = barrier.waiting.size() == alive;
  if (launch.checks().race) {
    for (uint32_t index : barrier.waiting)
      clocks.acquire(index, barrier.meeting);
    if (everybody)
      races.forgetAll();
  }
  if (everybody)
    for (Warp &warp : warps)
      warp.log.flush(count);
  const Barrier done = std::move(barrier);
  barrier = Barrier();
  for (uint32_t index : done.waiting) {
    Lane &lane = lanes[index];
    lane.held = done.count;
    lane.heldOf = uint32_t(done.waiting.size());
    if (&lane != current || launch.config.seed) {
      wake(lane);
    } else {
      lane.state = LaneState::Ready;
      lane.barrier = -1;
    }
  }
}

} // namespace tessera::runtime::sim

using namespace tessera::runtime::sim;

void tessera_sim_barrier(tessera_sim_lane *self, uint32_t id, uint32_t threads,
                         uint32_t site) {
  auto &lane = *static_cast<Lane *>(self);
  lane.block->barrier(lane, id, threads, false, site);
}

// BarrierReduction: 0 popc, 1 and, 2 or.
uint32_t tessera_sim_barrier_reduce(tessera_sim_lane *self, uint32_t id,
                                    uint32_t threads, uint32_t kind,
                                    uint32_t predicate, uint32_t site) {
  auto &lane = *static_cast<Lane *>(self);
  lane.block->barrier(lane, id, threads, predicate != 0, site);
  switch (kind) {
  case 0:
    return lane.held;
  case 1:
    return lane.held == lane.heldOf;
  default:
    return lane.held != 0;
  }
}

void tessera_sim_barrier_arrive(tessera_sim_lane *self, uint32_t id,
                                uint32_t threads, uint32_t site) {
  auto &lane = *static_cast<Lane *>(self);
  lane.block->arrive(lane, id, threads, site);
}
