// The process-wide pool of threads that compiled code runs on.
#pragma once

#include "runtime/HostAbi.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <mutex>

namespace tessera::runtime {

inline constexpr int kMaxThreads = 1024;

// How many threads compute unless a call says otherwise: what setNumThreads
// said, else TESSERA_THREADS, else the cores that this process may use. Throws
// std::invalid_argument if TESSERA_THREADS is not a number from 1 to 1024.
int numThreads();

// std::invalid_argument unless n is from 1 to 1024. Threads start when first
// needed and stay, parked when idle.
void setNumThreads(int n);

// Runs fn on all tiles of [0, tiles) on up to `threads` threads (0: the
// default), of which the caller is one, and returns when the last is done. Each
// thread starts on a contiguous part and then takes from the others'. Inside
// another parallelFor, and while another thread has the pool, the caller runs
// all tiles alone. fn must not throw.
void parallelFor(tessera_kernel_fn fn, void *const *buffers, int64_t tiles,
                 int threads = 0);

// The same for a C++ callable body(begin, end). The first exception that a
// body throws is thrown again here; the other parts still run.
template <typename Body>
void parallelFor(int64_t tiles, int threads, Body &&body) {
  struct Context {
    Body &body;
    std::mutex mutex;
    std::exception_ptr error;
  } context{body, {}, {}};
  void *buffers[] = {&context};
  parallelFor(
      [](void *const *buffers, int64_t begin, int64_t end) {
        auto &context = *static_cast<Context *>(buffers[0]);
        try {
          context.body(begin, end);
        } catch (...) {
          std::lock_guard guard(context.mutex);
          if (!context.error)
            context.error = std::current_exception();
        }
      },
      buffers, tiles, threads);
  if (context.error)
    std::rethrow_exception(context.error);
}

} // namespace tessera::runtime
