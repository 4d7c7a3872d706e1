// Runs a kernel that was compiled for the SIMT emulator.
//
// A launch behaves as one on a device: blocks in any order and in parallel, the
// threads of a block as fibres that go on until they wait for each other. The
// checks find what a device would let pass.
#pragma once

#include "runtime/sim/Counters.h"
#include "runtime/sim/SimAbi.h"

#include <cstddef>
#include <span>
#include <string>

namespace tessera::runtime::sim {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
};

// What is looked for in a kernel that was compiled with checks.
struct Checks {
  bool race = false;   // accesses to shared memory that nothing orders
  bool bounds = false; // accesses outside of shared memory and of the buffers
  bool init = false;   // reads of shared memory that was never written

  static constexpr Checks all() { return {true, true, true}; }
  // From a list such as "race,bounds,init", "all" or "none"; throws
  // std::invalid_argument on other names.
  static Checks parse(const std::string &list);
};

// TESSERA_SIM_CHECK, else `otherwise`; std::invalid_argument if it is no list.
Checks checksFromEnvironment(Checks otherwise);

// TESSERA_SIM_SEED, else 0; std::invalid_argument if it is no number.
uint64_t seedFromEnvironment();

// Memory that the kernel may touch.
struct Extent {
  const void *begin = nullptr;
  size_t bytes = 0;
  bool writable = true;
};

struct LaunchConfig {
  Dim3 grid, block;
  uint32_t dynamicSharedBytes = 0;
  Checks checks;
  // Which of the orders that a device may run threads in: 0 is by index as far
  // as they do not wait, any other number stands for a random order.
  uint64_t seed = 0;
  // Threads of the pool to use; 0 is the default.
  int threads = 0;
  // Shared memory that a block may have, static and dynamic.
  uint32_t maxSharedBytes = 227 << 10;
};

// Why the launch is impossible, with the kernel's name; empty if it is not.
std::string whyImpossible(const tessera_sim_kernel &kernel,
                          const LaunchConfig &config);

// What a launch came to. If several blocks are at fault, the error is that of
// the first one, whatever the number of threads.
struct LaunchResult {
  std::string error; // empty: it succeeded
  Counters counters;

  explicit operator bool() const { return error.empty(); }
};

// Runs the whole grid and returns when it is done. args[i] points to the value
// of the kernel's argument i. Bounds are checked against `extents`.
LaunchResult launch(const tessera_sim_kernel &kernel,
                    const LaunchConfig &config, void *const *args,
                    std::span<const Extent> extents);

} // namespace tessera::runtime::sim
