// One host a thread count, made at first use.
#include "runtime/Host.h"

#include "runtime/ThreadPool.h"

namespace tessera::runtime {

namespace {

void runOnPool(const tessera_host *host, tessera_kernel_fn fn,
               void *const *buffers, int64_t tiles) {
  parallelFor(fn, buffers, tiles, int(host->threads));
}

struct Hosts {
  tessera_host of[kMaxThreads + 1];
  constexpr Hosts() : of() {
    // With one thread there is nothing to call.
    of[1] = {nullptr, nullptr, 1};
    for (int i = 2; i <= kMaxThreads; ++i)
      of[i] = {runOnPool, nullptr, i};
  }
};
constinit const Hosts kHosts;

} // namespace

const tessera_host *hostFor(int threads) {
  if (threads <= 0)
    threads = numThreads();
  return &kHosts.of[std::min(threads, kMaxThreads)];
}

} // namespace tessera::runtime
