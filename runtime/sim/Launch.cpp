// A launch: checks its arguments, then runs the blocks of the grid over the
// thread pool.
#include "runtime/sim/Launch.h"

#include "runtime/Environment.h"
#include "runtime/FloatEnv.h"
#include "runtime/ThreadPool.h"
#include "runtime/sim/Block.h"

#include <atomic>
#include <limits>
#include <stdexcept>

namespace tessera::runtime::sim {

namespace {

// Limits of every device since compute capability 2.0 (CUDA programming guide,
// "Technical Specifications per Compute Capability").
constexpr uint32_t kMostThreads = 1024, kMostThreadsZ = 64;
constexpr uint32_t kMostBlocksX = 0x7fffffff, kMostBlocksYZ = 65535;
constexpr uint32_t kMostStaticShared = 48 << 10;

std::string text(Dim3 d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," +
         std::to_string(d.z) + ")";
}

// Why the launch is impossible; empty if it is not.
std::string faultOf(const tessera_sim_kernel &kernel,
                    const LaunchConfig &config) {
  const Dim3 grid = config.grid, block = config.block;
  if (!grid.x || !grid.y || !grid.z || grid.x > kMostBlocksX ||
      grid.y > kMostBlocksYZ || grid.z > kMostBlocksYZ)
    return "a grid of " + text(grid) +
           " blocks: expected 1 to 2147483647, 65535 and 65535";
  const uint64_t threads = uint64_t(block.x) * block.y * block.z;
  if (!threads || block.x > kMostThreads || block.y > kMostThreads ||
      block.z > kMostThreadsZ || threads > kMostThreads)
    return "a block of " + text(block) +
           " threads: expected 1 to 1024 in all, and at most 64 in z";
  const uint32_t *required = kernel.required_block;
  if (required[0] && (required[0] != block.x || required[1] != block.y ||
                      required[2] != block.z))
    return "a block of " + text(block) + " threads: the kernel requires " +
           text({required[0], required[1], required[2]});
  if (kernel.max_threads && threads > kernel.max_threads)
    return "a block of " + std::to_string(threads) +
           " threads: the kernel allows " + std::to_string(kernel.max_threads);
  if (kernel.static_bytes > kMostStaticShared)
    return std::to_string(kernel.static_bytes) +
           " bytes of static shared memory: a device allows 49152, and more "
           "only as dynamic shared memory";
  const uint64_t shared =
      uint64_t(kernel.static_bytes) + config.dynamicSharedBytes;
  if (shared > config.maxSharedBytes)
    return std::to_string(shared) +
           " bytes of shared memory a block: the device has " +
           std::to_string(config.maxSharedBytes);
  const Checks &checks = config.checks;
  if ((checks.race || checks.bounds || checks.init) &&
      !(kernel.reports & TESSERA_SIM_CHECKED))
    return "checks are asked for, and the kernel was compiled without them";
  return "";
}

} // namespace

Checks Checks::parse(const std::string &list) {
  if (list == "all")
    return all();
  Checks checks;
  if (list == "none")
    return checks;
  for (size_t at = 0; at <= list.size();) {
    size_t end = std::min(list.find(',', at), list.size());
    std::string name = list.substr(at, end - at);
    if (name == "race")
      checks.race = true;
    else if (name == "bounds")
      checks.bounds = true;
    else if (name == "init")
      checks.init = true;
    else
      throw std::invalid_argument(
          "'" + list +
          "': expected a list of race, bounds and init, or all, "
          "or none");
    at = end + 1;
  }
  return checks;
}

Checks checksFromEnvironment(Checks otherwise) {
  auto list = readVariable(Variable::SimCheck);
  if (!list)
    return otherwise;
  try {
    return Checks::parse(*list);
  } catch (const std::invalid_argument &error) {
    throw std::invalid_argument(nameOf(Variable::SimCheck) + ": " +
                                error.what());
  }
}

uint64_t seedFromEnvironment() {
  return uint64_t(
      readInteger(Variable::SimSeed, 0, std::numeric_limits<int64_t>::max())
          .value_or(0));
}

std::string whyImpossible(const tessera_sim_kernel &kernel,
                          const LaunchConfig &config) {
  std::string fault = faultOf(kernel, config);
  return fault.empty()
             ? fault
             : std::string("kernel ") + (kernel.strings + kernel.name) +
                   " cannot be launched: " + fault;
}

LaunchResult launch(const tessera_sim_kernel &kernel,
                    const LaunchConfig &config, void *const *args,
                    std::span<const Extent> extents) {
  LaunchResult result;
  result.error = whyImpossible(kernel, config);
  if (!result.error.empty())
    return result;
  const Dim3 grid = config.grid;
  const LaunchContext context{kernel, config, args, extents};
  const int64_t blocks = int64_t(grid.x) * grid.y * grid.z;
  std::mutex mutex;
  std::vector<std::unique_ptr<Block>> idle;
  std::atomic<int64_t> firstFault = blocks;
  auto take = [&] {
    std::lock_guard lock(mutex);
    if (idle.empty())
      return std::make_unique<Block>(context);
    auto block = std::move(idle.back());
    idle.pop_back();
    return block;
  };
  // Blocks before a fault still run, so that the first one is reported.
  parallelFor(blocks, config.threads, [&](int64_t begin, int64_t end) {
    FloatEnv environment;
    auto block = take();
    for (int64_t i = begin; i < end && i < firstFault; ++i) {
      if (block->run(uint64_t(i)))
        continue;
      std::lock_guard lock(mutex);
      result.counters += block->counters();
      if (i < firstFault) {
        firstFault = i;
        result.error = block->error();
      }
      return;
    }
    std::lock_guard lock(mutex);
    idle.push_back(std::move(block));
  });
  for (const auto &block : idle)
    result.counters += block->counters();
  return result;
}

} // namespace tessera::runtime::sim
