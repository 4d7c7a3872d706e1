// Requests of warps: sectors of global memory, banks of shared memory, and
// branches that split.
#include "runtime/sim/RequestLog.h"

#include <algorithm>
#include <bit>

namespace tessera::runtime::sim {

namespace {

constexpr size_t kMostRequests = 4096; // of a site, so that memory is bounded
constexpr uintptr_t kSectorBytes = 32;
constexpr uint32_t kBanks = 32, kBankBytes = 4;

// The 32-byte sectors that the lanes touch together.
uint64_t sectorsOf(const uintptr_t *addresses, uint32_t lanes, uint32_t bytes) {
  std::vector<uintptr_t> sectors;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    uintptr_t address = addresses[std::countr_zero(rest)];
    for (uintptr_t sector = address / kSectorBytes;
         sector <= (address + bytes - 1) / kSectorBytes; ++sector)
      sectors.push_back(sector);
  }
  std::sort(sectors.begin(), sectors.end());
  return uint64_t(std::unique(sectors.begin(), sectors.end()) -
                  sectors.begin());
}

// The passes that the lanes of one phase need: the most words that any bank has
// to give.
uint32_t passesOf(const uintptr_t *addresses, uint32_t lanes, uint32_t bytes) {
  std::vector<uintptr_t> words;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    uintptr_t address = addresses[std::countr_zero(rest)];
    for (uintptr_t word = address / kBankBytes;
         word <= (address + bytes - 1) / kBankBytes; ++word)
      words.push_back(word);
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  uint32_t load[kBanks] = {}, most = 0;
  for (uintptr_t word : words)
    most = std::max(most, ++load[word % kBanks]);
  return most;
}

// Passes beyond the one of each phase. All banks together give 128 bytes, so a
// phase has as many lanes as ask for that much.
uint64_t conflictsOf(const uintptr_t *addresses, uint32_t lanes,
                     uint32_t bytes) {
  const uint32_t each =
      std::clamp(kBanks * kBankBytes / std::max(bytes, 4u), 1u, 32u);
  uint64_t conflicts = 0;
  for (uint32_t first = 0; first < 32; first += each) {
    uint32_t phase = each == 32 ? lanes : lanes & (((1u << each) - 1) << first);
    if (phase)
      conflicts += passesOf(addresses, phase, bytes) - 1;
  }
  return conflicts;
}

} // namespace

void RequestLog::reset(size_t count) {
  sites.clear();
  sites.resize(count);
  used.clear();
}

void RequestLog::count(const Request &request, Counters &counters) {
  const uint64_t bytes = uint64_t(std::popcount(request.lanes)) * request.value;
  switch (request.kind) {
  case Kind::Branch:
    ++counters.branches;
    counters.divergentBranches +=
        request.taken != 0 && request.taken != request.lanes;
    return;
  case Kind::Global:
    ++counters.globalRequests;
    counters.globalBytes += bytes;
    counters.globalSectors +=
        sectorsOf(request.address, request.lanes, request.value);
    return;
  case Kind::Shared:
    ++counters.sharedRequests;
    counters.sharedBytes += bytes;
    counters.bankConflicts +=
        conflictsOf(request.address, request.lanes, request.value);
    return;
  }
}

void RequestLog::add(uint32_t lane, uint32_t present, uint32_t index, Kind kind,
                     uintptr_t address, uint32_t value, Counters &counters) {
  Site &site = sites[index];
  if (site.requests.empty() && site.first == 0)
    used.push_back(index);
  uint32_t time = site.times[lane]++;
  // A lane so far behind the others that its request is counted already.
  if (time < site.first)
    return;
  while (time - site.first >= site.requests.size())
    site.requests.emplace_back();
  Request &request = site.requests[time - site.first];
  request.kind = kind;
  request.lanes |= 1u << lane;
  request.address[lane] = address;
  if (kind == Kind::Branch)
    request.taken |= uint32_t(value != 0) << lane;
  else
    request.value = value;
  while (!site.requests.empty() && (site.requests.front().lanes == present ||
                                    site.requests.size() > kMostRequests)) {
    count(site.requests.front(), counters);
    site.requests.pop_front();
    ++site.first;
  }
}

void RequestLog::flush(Counters &counters) {
  for (uint32_t index : used) {
    Site &site = sites[index];
    for (const Request &request : site.requests)
      count(request, counters);
    site.requests.clear();
    site.first = 0;
    std::fill(std::begin(site.times), std::end(site.times), 0);
  }
  used.clear();
}

} // namespace tessera::runtime::sim
