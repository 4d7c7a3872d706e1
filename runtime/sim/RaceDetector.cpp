// The race detector: last write and concurrent reads of each granule.
#include "runtime/sim/RaceDetector.h"

#include <algorithm>
#include <bit>

namespace tessera::runtime::sim {

void RaceDetector::reset(size_t bytes, uint32_t granule) {
  granuleShift = uint32_t(std::countr_zero(granule));
  cells.resize((bytes + granule - 1) >> granuleShift);
  forgetAll();
}

void RaceDetector::forgetAll() {
  if (++generation == 0) {
    std::fill(cells.begin(), cells.end(), Cell());
    generation = 1;
  }
  usedSets = 0;
}

// Whether a and the earlier b of another thread are in conflict.
static bool isRace(const Clocks &clocks, const auto &a, const auto &b) {
  return !(a.atomic && b.atomic) &&
         !clocks.happensBefore(b.thread, b.time, a.thread);
}

std::optional<Conflict> RaceDetector::checkWrite(const Clocks &clocks,
                                                 Cell &cell,
                                                 const Access &access) {
  if (cell.readers) {
    for (const Access &read : sets[cell.readers - 1])
      if (isRace(clocks, access, read))
        return Conflict{read.thread, read.site, false};
  } else if (cell.read.thread != kNobody && isRace(clocks, access, cell.read)) {
    return Conflict{cell.read.thread, cell.read.site, false};
  }
  cell.write = access;
  cell.read = Access();
  cell.readers = 0;
  return std::nullopt;
}

// A reader that the new one is ordered after need not be remembered: a write
// that is not ordered after it is not ordered after the new one either.
void RaceDetector::addReader(const Clocks &clocks, Cell &cell,
                             const Access &access) {
  auto covers = [&](const Access &old) {
    return (old.atomic || !access.atomic) &&
           clocks.happensBefore(old.thread, old.time, access.thread);
  };
  if (!cell.readers) {
    if (cell.read.thread == kNobody || covers(cell.read)) {
      cell.read = access;
      return;
    }
    if (usedSets == sets.size())
      sets.emplace_back();
    sets[usedSets].assign({cell.read, access});
    cell.readers = uint32_t(++usedSets);
    return;
  }
  std::vector<Access> &set = sets[cell.readers - 1];
  for (Access &old : set)
    if (covers(old)) {
      old = access;
      return;
    }
  set.push_back(access);
}

std::optional<Conflict> RaceDetector::access(const Clocks &clocks,
                                             uint32_t thread, uint32_t site,
                                             size_t offset, size_t bytes,
                                             bool writes, bool atomic) {
  const Access access{clocks.now(thread), site, uint16_t(thread), atomic};
  const size_t end = (offset + bytes - 1) >> granuleShift;
  for (size_t i = offset >> granuleShift; i <= end; ++i) {
    Cell &cell = cells[i];
    if (cell.generation != generation) {
      cell = Cell();
      cell.generation = generation;
    }
    if (cell.write.thread != kNobody && isRace(clocks, access, cell.write))
      return Conflict{cell.write.thread, cell.write.site, true};
    if (!writes)
      addReader(clocks, cell, access);
    else if (auto conflict = checkWrite(clocks, cell, access))
      return conflict;
  }
  return std::nullopt;
}

} // namespace tessera::runtime::sim
