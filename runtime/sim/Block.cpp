// The scheduler: which lane runs, on which stack, and when it stops.
#include "runtime/sim/Block.h"

#include <bit>

namespace tessera::runtime::sim {

namespace {

// Yields in a row without anything else happening that count as a livelock.
constexpr uint64_t kMostIdleYields = uint64_t(1) << 24;

// SplitMix64.
uint64_t nextRandom(uint64_t &state) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

} // namespace

Block::Block(const LaunchContext &launch)
    : launch(launch), shared(launch.kernel, launch.config.dynamicSharedBytes),
      lanes(launch.threads()), warps((launch.threads() + 31) / 32),
      ready(std::bit_ceil(launch.threads())) {
  const Dim3 block = launch.config.block, grid = launch.config.grid;
  for (uint32_t i = 0; i < lanes.size(); ++i) {
    Lane &lane = lanes[i];
    lane = Lane();
    lane.block = this;
    lane.index = i;
    lane.tid[0] = i % block.x;
    lane.tid[1] = i / block.x % block.y;
    lane.tid[2] = i / block.x / block.y;
    lane.ntid[0] = block.x, lane.ntid[1] = block.y, lane.ntid[2] = block.z;
    lane.nctaid[0] = grid.x, lane.nctaid[1] = grid.y, lane.nctaid[2] = grid.z;
    lane.laneid = i % 32;
    lane.warpid = i / 32;
    lane.nwarpid = uint32_t(warps.size());
    lane.shared = shared.base();
    warps[i / 32].present |= 1u << (i % 32);
  }
  for (uint32_t i = 0; i < warps.size(); ++i) {
    warps[i].first = i * 32;
    if (launch.kernel.reports & TESSERA_SIM_COUNTED)
      warps[i].log.reset(launch.kernel.num_sites);
  }
}

void Block::prepare(uint64_t index) {
  const Dim3 grid = launch.config.grid;
  const uint32_t place[] = {uint32_t(index % grid.x),
                            uint32_t(index / grid.x % grid.y),
                            uint32_t(index / grid.x / grid.y)};
  shared.reset();
  for (Warp &warp : warps)
    warp.exited = warp.arrived = 0;
  for (Barrier &barrier : barriers)
    barrier = Barrier();
  alive = uint32_t(lanes.size());
  readyHead = readyCount = 0;
  random = launch.config.seed * 0x2545f4914f6cdd1d + index;
  idleYields = 0;
  for (Lane &lane : lanes) {
    std::copy(place, place + 3, lane.ctaid);
    lane.uncommitted.clear();
    lane.groups.clear();
    wake(lane);
  }
  if (launch.checks().race) {
    clocks.reset(alive);
    races.reset(shared.bytes(), launch.kernel.granule);
  }
}

// What a fibre does: runs lanes to their end.
struct FibreMain {
  static void enter(void *argument) {
    Fibre &fibre = *static_cast<Fibre *>(argument);
    Block &block = fibre.block;
    while (true) {
      Lane &lane = *fibre.lane;
      block.launch.kernel.entry(&lane, block.launch.args);
      block.finish(lane);
      Lane *next = block.nextReady();
      // A lane that has not started goes on here, without a switch.
      if (next && !next->fibre) {
        fibre.lane = next;
        next->fibre = &fibre;
        continue;
      }
      block.free.push_back(&fibre);
      fibre.context.switchTo(next ? next->fibre->context : *block.scheduler);
    }
  }
};

bool Block::run(uint64_t index) {
  prepare(index);
  Context here;
  scheduler = &here;
  while (errorText.empty()) {
    Lane *next = nextReady();
    if (!next)
      break;
    here.switchTo((next->fibre ? next->fibre : freeFibre(*next))->context);
  }
  if (errorText.empty() && alive)
    recordDeadlock();
  for (Warp &warp : warps)
    warp.log.flush(count);
  ++count.blocks;
  count.threads += lanes.size();
  for (Lane &lane : lanes) {
    count.operations += lane.operations;
    lane.operations = 0;
  }
  return errorText.empty();
}

Lane *Block::nextReady() {
  if (!readyCount)
    return nullptr;
  const uint32_t mask = uint32_t(ready.size()) - 1;
  if (launch.config.seed) {
    uint32_t pick = readyHead + uint32_t(nextRandom(random) % readyCount);
    std::swap(ready[readyHead & mask], ready[pick & mask]);
  }
  --readyCount;
  return &lanes[ready[readyHead++ & mask]];
}

void Block::wake(Lane &lane) {
  lane.state = LaneState::Ready;
  lane.arrival = nullptr;
  lane.barrier = -1;
  ready[(readyHead + readyCount++) & (ready.size() - 1)] = lane.index;
}

// A stack for a lane that starts.
Fibre *Block::freeFibre(Lane &lane) {
  if (free.empty()) {
    fibres.push_back(std::make_unique<Fibre>(*this));
    Fibre &fibre = *fibres.back();
    fibre.context.prepare(fibre.stack, &FibreMain::enter, &fibre);
    free.push_back(&fibre);
  }
  lane.fibre = free.back();
  lane.fibre->lane = &lane;
  free.pop_back();
  return lane.fibre;
}

// Runs the others until this lane's turn comes again.
void Block::switchAway(Lane &lane) {
  Lane *next = nextReady();
  if (next == &lane)
    return;
  ++count.switches;
  if (!next)
    return lane.fibre->context.switchTo(*scheduler);
  Fibre *fibre = next->fibre ? next->fibre : freeFibre(*next);
  lane.fibre->context.switchTo(fibre->context);
}

void Block::leave() {
  abandoned.switchTo(*scheduler);
  __builtin_unreachable();
}

void Block::yield(Lane &lane, uint32_t site) {
  if (++idleYields > kMostIdleYields)
    fail(lane, site, [] {
      return std::string("livelock: every thread that is not waiting loops "
                         "without an end, looking for what does not happen");
    });
  wake(lane);
  switchAway(lane);
}

void Block::finish(Lane &lane) {
  idleYields = 0;
  lane.state = LaneState::Done;
  --alive;
  Warp &warp = warpOf(lane);
  warp.exited |= 1u << lane.laneid;
  // Those who waited for this lane may be complete without it.
  for (uint32_t rest = warp.arrived; rest; rest &= rest - 1) {
    int other = std::countr_zero(rest);
    if (warp.arrived >> other & 1)
      tryComplete(warp, *laneOf(warp, other).arrival, nullptr);
  }
  for (Barrier &barrier : barriers)
    if (barrier.arrived && isComplete(barrier))
      release(barrier, nullptr);
  lane.fibre = nullptr;
}

} // namespace tessera::runtime::sim
