// One block of threads that is being run: its lanes, warps, barriers and
// shared memory, and the scheduler between them.
#pragma once

#include "runtime/sim/Context.h"
#include "runtime/sim/Launch.h"
#include "runtime/sim/RaceDetector.h"
#include "runtime/sim/RequestLog.h"
#include "runtime/sim/SharedMemory.h"

#include <deque>
#include <memory>

namespace tessera::runtime::sim {

class Block;
struct Lane;

// What the blocks of a launch have in common.
struct LaunchContext {
  const tessera_sim_kernel &kernel;
  const LaunchConfig &config;
  void *const *args;
  std::span<const Extent> extents;

  Checks checks() const { return config.checks; }
  uint32_t threads() const {
    return config.block.x * config.block.y * config.block.z;
  }
};

// A stack that lanes run on, one after the other.
struct Fibre {
  explicit Fibre(Block &block) : block(block), stack(acquireStack()) {}
  ~Fibre() { releaseStack(stack); }

  Block &block;
  Stack stack;
  Lane *lane = nullptr;
  Context context;
};

// Operations that the lanes of a warp do together.
enum class Collective : uint8_t {
  WarpSync,
  Shuffle,
  Vote,
  Redux,
  Match,
  Elect,
  LoadMatrix,
  Mma,
};

// What a lane brings to a collective. It lies on the lane's stack while the
// lane waits. Lanes meet if the first three fields agree.
struct Arrival {
  Collective what;
  uint32_t kind;
  uint32_t mask;
  uint32_t site;
  // All lanes of the warp execute the same instruction (.aligned).
  bool aligned = false;
  uint64_t value = 0;
  uint32_t offset = 0, clamp = 0;
  const uint32_t *operands = nullptr;
  uint32_t *result = nullptr;

  bool meets(const Arrival &other) const {
    return what == other.what && kind == other.kind && mask == other.mask &&
           (!aligned || site == other.site);
  }
};

// A copy that has been started and has not landed.
struct AsyncCopy {
  char *to;
  const char *from;
  uint32_t bytes, sourceBytes;
  uint32_t site;
};

enum class LaneState : uint8_t { Ready, Waiting, Done };

struct Lane : tessera_sim_lane {
  Block *block = nullptr;
  Fibre *fibre = nullptr;
  uint32_t index = 0;
  LaneState state = LaneState::Ready;
  // While it waits: the collective, or the barrier that is not -1.
  Arrival *arrival = nullptr;
  int barrier = -1;
  uint32_t site = 0;
  // After a barrier: how many of those that waited had a true predicate.
  uint32_t held = 0, heldOf = 0;
  std::vector<AsyncCopy> uncommitted;
  std::deque<std::vector<AsyncCopy>> groups;
};

struct Warp {
  uint32_t first = 0;   // index of lane 0
  uint32_t present = 0; // the lanes that there are
  uint32_t exited = 0;  // of these, those that are done
  uint32_t arrived = 0; // those that wait in a collective
  RequestLog log;
};

// One of the sixteen barriers of a block.
struct Barrier {
  uint32_t expected = 0; // 0: every thread of the block
  uint32_t arrived = 0;
  uint32_t count = 0; // threads whose predicate holds
  std::vector<uint32_t> waiting;
  std::vector<uint32_t> passed; // have arrived and do not wait
  Meeting meeting;
};

// Runs blocks of one launch, one after the other, on one thread.
class Block {
public:
  explicit Block(const LaunchContext &launch);
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;

  // Runs a block of the grid. False if it is at fault; then error() says why,
  // and the block can run nothing any more.
  bool run(uint64_t index);
  const std::string &error() const { return errorText; }
  const Counters &counters() const { return count; }

  // From here on: called on the fibre of the lane in question.

  // Ends the launch. `text()` makes the message; it has returned, and all that
  // it used is destroyed, before the lane is left for good.
  template <typename Text>
  [[noreturn]] void fail(const Lane &lane, uint32_t site, Text &&text) {
    recordError(lane, site, text());
    leave();
  }

  void access(Lane &lane, const void *address, size_t bytes, uint32_t flags,
              uint32_t site);
  void branch(Lane &lane, bool taken, uint32_t site);
  void yield(Lane &lane, uint32_t site);

  // Returns when the collective is complete.
  void meet(Lane &lane, Arrival &arrival);

  void barrier(Lane &lane, uint32_t id, uint32_t threads, bool predicate,
               uint32_t site);
  void arrive(Lane &lane, uint32_t id, uint32_t threads, uint32_t site);

  void startCopy(Lane &lane, const AsyncCopy &copy);
  void landCopies(Lane &lane, uint32_t groupsLeft, uint32_t site);

  void fence(Lane &lane, bool acquires, bool releases);

private:
  friend struct FibreMain;

  // The scheduler.
  void prepare(uint64_t index);
  Lane *nextReady();
  void wake(Lane &lane);
  void switchAway(Lane &lane);
  Fibre *freeFibre(Lane &lane);
  [[noreturn]] void leave();
  void finish(Lane &lane);

  // Collectives.
  Warp &warpOf(const Lane &lane) { return warps[lane.index / 32]; }
  Lane &laneOf(const Warp &warp, int lane) {
    return lanes[warp.first + uint32_t(lane)];
  }
  bool tryComplete(Warp &warp, const Arrival &arrival, const Lane *current);
  void complete(Warp &warp, uint32_t group);
  void shuffle(Warp &warp, uint32_t group);
  void vote(Warp &warp, uint32_t group);
  void redux(Warp &warp, uint32_t group);
  void match(Warp &warp, uint32_t group);
  void loadMatrix(Warp &warp);
  void multiply(Warp &warp);

  // Barriers.
  Barrier &arriveAt(Lane &lane, uint32_t id, uint32_t threads, bool predicate,
                    uint32_t site);
  bool isComplete(const Barrier &barrier) const;
  void release(Barrier &barrier, const Lane *current);
  void checkAligned(const Barrier &barrier);

  // Accesses.
  bool isOnStack(const Lane &lane, const void *address) const;
  void checkBounds(Lane &lane, const void *address, size_t bytes,
                   uint32_t flags, uint32_t site);
  void checkShared(Lane &lane, size_t offset, size_t bytes, uint32_t flags,
                   uint32_t site);
  void checkRace(Lane &lane, size_t offset, size_t bytes, bool writes,
                 bool atomic, uint32_t site);
  const Extent *extentBefore(const void *address) const;

  // Messages.
  void recordError(const Lane &lane, uint32_t site, std::string text);
  void recordDeadlock();
  std::string place(uint32_t site) const;
  std::string opAt(uint32_t site) const;
  std::string describeAddress(const void *address, uint32_t flags) const;
  std::string waitingFor(const Lane &lane);
  std::string divergence(const Lane &lane, const Lane &other) const;

  const LaunchContext &launch;
  SharedMemory shared;
  std::vector<Lane> lanes;
  std::vector<Warp> warps;
  Barrier barriers[16];
  Clocks clocks;
  RaceDetector races;
  Counters count;

  std::vector<std::unique_ptr<Fibre>> fibres;
  std::vector<Fibre *> free;
  Context *scheduler = nullptr; // of the thread that runs the block
  Context abandoned;            // where a lane that failed was
  std::vector<uint32_t> ready;  // a ring of the lanes that can go on
  uint32_t readyHead = 0, readyCount = 0;
  uint64_t random = 0;
  uint32_t alive = 0;
  uint64_t idleYields = 0;
  std::string errorText;
};

} // namespace tessera::runtime::sim
