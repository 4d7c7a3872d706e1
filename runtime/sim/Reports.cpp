// Messages: where a fault is, and who waits for whom in a deadlock.
#include "runtime/sim/Block.h"

#include <algorithm>
#include <bit>
#include <map>

namespace tessera::runtime::sim {

namespace {

std::string triple(const uint32_t (&at)[3]) {
  return "(" + std::to_string(at[0]) + "," + std::to_string(at[1]) + "," +
         std::to_string(at[2]) + ")";
}

// "0-15, 32" of sorted numbers.
std::string ranges(const std::vector<uint32_t> &numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1)
      ++end;
    text += (text.empty() ? "" : ", ") + std::to_string(numbers[i]);
    if (end > i + 1)
      text += "-" + std::to_string(numbers[end - 1]);
    i = end;
  }
  return text;
}

} // namespace

std::string Block::place(uint32_t site) const {
  if (site >= launch.kernel.num_sites)
    return "an unknown place";
  const tessera_sim_site &at = launch.kernel.sites[site];
  return std::string(launch.kernel.strings + at.file) + ":" +
         std::to_string(at.line);
}

std::string Block::opAt(uint32_t site) const {
  return site < launch.kernel.num_sites
             ? launch.kernel.strings + launch.kernel.sites[site].op
             : "an unknown operation";
}

void Block::recordError(const Lane &lane, uint32_t site, std::string text) {
  errorText = place(site) + ": [" + opAt(site) + "] " + text + "\n  kernel " +
              (launch.kernel.strings + launch.kernel.name) + ", block " +
              triple(lane.ctaid) + ", thread " + triple(lane.tid) + " (lane " +
              std::to_string(lane.laneid) + " of warp " +
              std::to_string(lane.warpid) + ")";
}

std::string Block::divergence(const Lane &lane, const Lane &other) const {
  return "divergent barrier: all lanes of a warp must come to the same "
         "barrier, "
         "and lane " +
         std::to_string(other.laneid) + " of warp " +
         std::to_string(lane.warpid) +
         (other.state == LaneState::Done ? std::string(" has exited")
                                         : " is at " + place(other.site));
}

// What a waiting lane waits for: "barrier 0, where 16 of 64 threads are".
std::string Block::waitingFor(const Lane &lane) {
  std::string text = place(lane.site) + ": [" + opAt(lane.site) + "] ";
  if (lane.barrier >= 0) {
    const Barrier &barrier = barriers[lane.barrier];
    return text + "barrier " + std::to_string(lane.barrier) + ", where " +
           std::to_string(barrier.arrived) + " of " +
           std::to_string(barrier.expected ? barrier.expected : alive) +
           " threads have arrived";
  }
  const Warp &warp = warps[lane.index / 32];
  std::vector<uint32_t> missing;
  for (uint32_t rest = lane.arrival->mask & warp.present & ~warp.exited; rest;
       rest &= rest - 1) {
    const Lane &other = laneOf(warp, std::countr_zero(rest));
    if (!(other.state == LaneState::Waiting && other.arrival &&
          other.arrival->meets(*lane.arrival)))
      missing.push_back(other.laneid);
  }
  return text + "lanes " + ranges(missing) + " of warp " +
         std::to_string(lane.warpid) + " to take part";
}

void Block::recordDeadlock() {
  std::map<std::string, std::vector<uint32_t>> groups;
  for (const Lane &lane : lanes)
    if (lane.state == LaneState::Waiting)
      groups[waitingFor(lane)].push_back(lane.index);
  std::string where;
  const Lane *first = nullptr;
  for (const auto &[what, threads] : groups) {
    where += "\n  threads " + ranges(threads) + " wait at " + what;
    if (!first || threads.front() < first->index)
      first = &lanes[threads.front()];
  }
  errorText = place(first->site) + ": [" + opAt(first->site) +
              "] deadlock: no thread of the block can go on\n  kernel " +
              (launch.kernel.strings + launch.kernel.name) + ", block " +
              triple(first->ctaid) + where;
}

} // namespace tessera::runtime::sim
