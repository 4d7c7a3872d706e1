// What is checked and counted when a lane reads or writes memory.
#include "runtime/sim/Block.h"

namespace tessera::runtime::sim {

// The extent that starts last of those at or before the address, for messages.
const Extent *Block::extentBefore(const void *address) const {
  const Extent *best = nullptr;
  for (const Extent &extent : launch.extents)
    if (extent.begin <= address && (!best || extent.begin > best->begin))
      best = &extent;
  return best;
}

bool Block::isOnStack(const Lane &lane, const void *address) const {
  const Stack &stack = lane.fibre->stack;
  return size_t(static_cast<const char *>(address) - stack.base) < stack.bytes;
}

static bool contains(const Extent &extent, const void *address, size_t bytes) {
  auto offset = size_t(static_cast<const char *>(address) -
                       static_cast<const char *>(extent.begin));
  return offset <= extent.bytes && bytes <= extent.bytes - offset;
}

void Block::checkBounds(Lane &lane, const void *address, size_t bytes,
                        uint32_t flags, uint32_t site) {
  const bool writes = flags & TESSERA_SIM_WRITE;
  const uint32_t alignment = 1u << (flags & 0xff);
  if (reinterpret_cast<uintptr_t>(address) % alignment)
    fail(lane, site, [&] {
      return "misaligned access: " + describeAddress(address, flags) +
             " is not a multiple of " + std::to_string(alignment) + " bytes";
    });
  if ((flags & TESSERA_SIM_SHARED) || shared.isNear(address)) {
    if (!(flags & TESSERA_SIM_GLOBAL) && shared.contains(address, bytes))
      return;
  } else {
    bool isReadOnly = false;
    for (const Extent &extent : launch.extents)
      if (contains(extent, address, bytes)) {
        if (!writes || extent.writable)
          return;
        isReadOnly = true;
      }
    if (isReadOnly)
      fail(lane, site, [&] {
        return "writes to " + describeAddress(address, flags) +
               ", which is read-only";
      });
    if (!(flags & TESSERA_SIM_GLOBAL) && isOnStack(lane, address))
      return;
  }
  fail(lane, site, [&] {
    return std::string("out of bounds: ") + (writes ? "writes " : "reads ") +
           std::to_string(bytes) + " bytes at " +
           describeAddress(address, flags);
  });
}

void Block::checkRace(Lane &lane, size_t offset, size_t bytes, bool writes,
                      bool atomic, uint32_t site) {
  if (bytes == 0)
    return;
  auto conflict =
      races.access(clocks, lane.index, site, offset, bytes, writes, atomic);
  if (!conflict)
    return;
  fail(lane, site, [&] {
    const Lane &other = lanes[conflict->thread];
    return "race on shared memory: " +
           std::string(writes ? "writes " : "reads ") +
           shared.describe(shared.base() + offset) + ", which thread (" +
           std::to_string(other.tid[0]) + "," + std::to_string(other.tid[1]) +
           "," + std::to_string(other.tid[2]) + ") " +
           (conflict->wrote ? "writes at " : "reads at ") +
           place(conflict->site) + ", and nothing orders the two";
  });
}

void Block::checkShared(Lane &lane, size_t offset, size_t bytes, uint32_t flags,
                        uint32_t site) {
  const bool writes = flags & TESSERA_SIM_WRITE,
             atomic = flags & TESSERA_SIM_ATOMIC;
  if (launch.checks().init) {
    if ((flags & TESSERA_SIM_READ) && !shared.isInitialised(offset, bytes))
      fail(lane, site, [&] {
        std::string text = "reads " + shared.describe(shared.base() + offset);
        return shared.isPending(offset, bytes)
                   ? text + ", where a cp.async has not landed: nobody has "
                            "waited for it"
                   : text + ", which nobody has written";
      });
  }
  if (launch.checks().race)
    checkRace(lane, offset, bytes, writes, atomic, site);
  if (launch.checks().init && writes)
    shared.markInitialised(offset, bytes);
}

void Block::access(Lane &lane, const void *address, size_t bytes,
                   uint32_t flags, uint32_t site) {
  const Checks checks = launch.checks();
  if (checks.bounds)
    checkBounds(lane, address, bytes, flags, site);
  const bool isShared = shared.contains(address, bytes);
  if (isShared && (checks.init || checks.race))
    checkShared(lane, shared.offsetOf(address), bytes, flags, site);
  if (flags & TESSERA_SIM_ATOMIC) {
    ++count.atomics;
    if (checks.race)
      clocks.atomic(lane.index, reinterpret_cast<uintptr_t>(address),
                    flags & TESSERA_SIM_READ, flags & TESSERA_SIM_WRITE,
                    flags & TESSERA_SIM_ACQUIRE, flags & TESSERA_SIM_RELEASE);
  }
  if (!(launch.kernel.reports & TESSERA_SIM_COUNTED) ||
      (!isShared && isOnStack(lane, address)))
    return;
  Warp &warp = warpOf(lane);
  warp.log.add(lane.laneid, warp.present & ~warp.exited, site,
               isShared ? RequestLog::Kind::Shared : RequestLog::Kind::Global,
               isShared ? shared.offsetOf(address)
                        : reinterpret_cast<uintptr_t>(address),
               uint32_t(bytes), count);
}

void Block::branch(Lane &lane, bool taken, uint32_t site) {
  Warp &warp = warpOf(lane);
  warp.log.add(lane.laneid, warp.present & ~warp.exited, site,
               RequestLog::Kind::Branch, 0, taken, count);
}

void Block::fence(Lane &lane, bool acquires, bool releases) {
  if (launch.checks().race)
    clocks.fence(lane.index, acquires, releases);
}

std::string Block::describeAddress(const void *address, uint32_t flags) const {
  if (shared.isNear(address))
    return shared.describe(address);
  const Extent *extent = extentBefore(address);
  if (!extent && !launch.extents.empty())
    extent = &launch.extents.front();
  if ((flags & TESSERA_SIM_SHARED) || !extent)
    return "an address that is neither in shared memory nor in a buffer";
  // Counted from the last buffer that starts before the address.
  auto offset = static_cast<const char *>(address) -
                static_cast<const char *>(extent->begin);
  return "byte " + std::to_string(offset) + " of a buffer of " +
         std::to_string(extent->bytes) + " bytes";
}

} // namespace tessera::runtime::sim

using namespace tessera::runtime::sim;

static Lane &self(tessera_sim_lane *lane) { return *static_cast<Lane *>(lane); }

void tessera_sim_access(tessera_sim_lane *lane, const void *address,
                        uint64_t bytes, uint32_t flags, uint32_t site) {
  self(lane).block->access(self(lane), address, bytes, flags, site);
}

void tessera_sim_constant_access(tessera_sim_lane *lane, const void *address,
                                 uint64_t bytes, const void *base,
                                 uint64_t size, uint32_t site) {
  auto offset = uint64_t(static_cast<const char *>(address) -
                         static_cast<const char *>(base));
  if (offset <= size && bytes <= size - offset)
    return;
  self(lane).block->fail(self(lane), site, [&] {
    return "out of bounds: byte " + std::to_string(int64_t(offset)) +
           " of a constant of " + std::to_string(size) + " bytes";
  });
}

void tessera_sim_fence(tessera_sim_lane *lane, uint32_t acquire,
                       uint32_t release) {
  self(lane).block->fence(self(lane), acquire, release);
}

void tessera_sim_yield(tessera_sim_lane *lane, uint32_t site) {
  self(lane).block->yield(self(lane), site);
}

void tessera_sim_branch(tessera_sim_lane *lane, uint32_t taken, uint32_t site) {
  self(lane).block->branch(self(lane), taken, site);
}

void tessera_sim_trap(tessera_sim_lane *lane, uint32_t site) {
  self(lane).block->fail(self(lane), site,
                         [] { return std::string("the kernel trapped"); });
}
