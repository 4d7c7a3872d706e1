// cp.async: copies that land as late as they may, when they are waited for.
#include "runtime/sim/Block.h"

#include <cstring>

namespace tessera::runtime::sim {

// From its start until it is waited for a copy may write at any time. So it is
// checked as a write at both ends.
void Block::startCopy(Lane &lane, const AsyncCopy &copy) {
  const uint32_t alignment = uint32_t(__builtin_ctz(copy.bytes));
  access(lane, copy.from, copy.sourceBytes,
         alignment | TESSERA_SIM_READ | TESSERA_SIM_GLOBAL, copy.site);
  access(lane, copy.to, copy.bytes,
         alignment | TESSERA_SIM_WRITE | TESSERA_SIM_SHARED, copy.site);
  if (launch.checks().init && shared.contains(copy.to, copy.bytes))
    shared.markPending(shared.offsetOf(copy.to), copy.bytes);
  lane.uncommitted.push_back(copy);
  count.asyncBytes += copy.sourceBytes;
}

void Block::landCopies(Lane &lane, uint32_t groupsLeft, uint32_t site) {
  for (; lane.groups.size() > groupsLeft; lane.groups.pop_front())
    for (const AsyncCopy &copy : lane.groups.front()) {
      std::memcpy(copy.to, copy.from, copy.sourceBytes);
      std::memset(copy.to + copy.sourceBytes, 0, copy.bytes - copy.sourceBytes);
      if (!shared.contains(copy.to, copy.bytes))
        continue;
      const size_t offset = shared.offsetOf(copy.to);
      if (launch.checks().race)
        checkRace(lane, offset, copy.bytes, /*writes=*/true, /*atomic=*/false,
                  copy.site);
      if (launch.checks().init)
        shared.markInitialised(offset, copy.bytes);
    }
}

} // namespace tessera::runtime::sim

using namespace tessera::runtime::sim;

// PTX ISA, "cp.async": 4, 8 or 16 bytes, of which `source_bytes` are read and
// the rest is zero.
void tessera_sim_copy_async(tessera_sim_lane *self, void *shared,
                            const void *global, uint32_t bytes,
                            uint32_t source_bytes, uint32_t site) {
  auto &lane = *static_cast<Lane *>(self);
  if (source_bytes > bytes)
    lane.block->fail(lane, site, [&] {
      return "copies " + std::to_string(source_bytes) + " bytes into " +
             std::to_string(bytes);
    });
  lane.block->startCopy(lane, {static_cast<char *>(shared),
                               static_cast<const char *>(global), bytes,
                               source_bytes, site});
}

void tessera_sim_copy_commit(tessera_sim_lane *self) {
  auto &lane = *static_cast<Lane *>(self);
  lane.groups.push_back(std::move(lane.uncommitted));
  lane.uncommitted.clear();
}

void tessera_sim_copy_wait(tessera_sim_lane *self, uint32_t left,
                           uint32_t site) {
  auto &lane = *static_cast<Lane *>(self);
  lane.block->landCopies(lane, left, site);
}
