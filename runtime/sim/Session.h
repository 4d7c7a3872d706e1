// One call of a program whose kernels run on the emulator.
#pragma once

#include "runtime/HostAbi.h"
#include "runtime/sim/Launch.h"

#include <mutex>
#include <stdexcept>

namespace tessera::runtime::sim {

// What a check found, or why a launch is impossible: the emulator's report,
// which names the kernel, the block, the thread and the source line.
class Fault : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

// The kernels of a program are functions of the CPU's ABI whose tiles are the
// blocks of a grid; each hands its range to tessera_sim_run(), which finds the
// session of the calling thread here. After a fault the launches that follow do
// nothing.
class Session {
public:
  // Checks and order are those of TESSERA_SIM_CHECK and TESSERA_SIM_SEED; 0
  // threads are the default. Throws std::invalid_argument.
  explicit Session(int threads = 0);
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  // For the entry of a program, on the thread that made the session.
  const tessera_host *host() const { return &theHost; }

  // Throws the Fault of the first block at fault, if there is one.
  void finish();

  // Of all launches that have ended.
  const Counters &counters() const { return count; }

  // Runs blocks [begin, end) of a launch; called by compiled kernels.
  void run(const tessera_sim_kernel &kernel, const int64_t *launch,
           void *const *buffers, int64_t begin, int64_t end);

  // That of the calling thread.
  static Session *current();

private:
  static void runOnPool(const tessera_host *host, tessera_kernel_fn fn,
                        void *const *buffers, int64_t tiles);
  void record(int64_t block, const std::string &text);
  void endLaunch(int64_t start);

  tessera_host theHost;
  Session *outer;
  Checks checks;
  uint64_t seed;
  std::mutex mutex; // of what follows
  Counters count, ofLaunch;
  const char *kernel = nullptr; // of the launch
  std::string error;
  int64_t firstFault = -1; // the block
  bool stopped = false;    // an earlier launch is at fault
  bool isParallel = false;
};

} // namespace tessera::runtime::sim
