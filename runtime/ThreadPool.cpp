// The thread pool: a mailbox a worker, ranges of tiles with stealing.
//
// A call fills one seat for itself and one for each worker it wants, then posts
// to those workers. Each takes chunks of its own range, then of the others'. A
// caller that finds no tiles left takes back the posts that nobody has answered
// yet and waits for the workers that have, so a slow wake-up costs nothing.
#include "runtime/ThreadPool.h"

#include "runtime/Environment.h"
#include "runtime/FloatEnv.h"

#include <atomic>
#include <cassert>
#include <chrono>
#include <csignal>
#include <pthread.h>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tessera::runtime {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kSpinTime = std::chrono::microseconds(50);
constexpr auto kYieldAfter = std::chrono::microseconds(10);
constexpr auto kLongLook = std::chrono::microseconds(5);
constexpr int kPausesPerLook = 32;
// A thread's range is taken in about this many pieces.
constexpr int64_t kChunksPerSeat = 8;

void pause() {
#ifdef __x86_64__
  __builtin_ia32_pause();
#endif
}

// Sleeps while the word holds `value`; may return early.
void sleepWhile(std::atomic<uint32_t> &word, uint32_t value) {
#ifdef __linux__
  static_assert(sizeof word == 4);
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
#else
  word.wait(value);
#endif
}

void wakeSleeper(std::atomic<uint32_t> &word) {
#ifdef __linux__
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
#else
  word.notify_one();
#endif
}

// Spins until the condition holds or the time is over; whether it holds. After
// a while it offers the core between the looks: the thread it waits for may be
// queued on it. What a look took beyond kLongLook was spent off the core and
// does not count.
template <typename Condition> bool spinUntil(bool spin, Condition holds) {
  if (holds())
    return true;
  if (!spin)
    return false;
  Clock::duration spent{};
  for (auto last = Clock::now(); spent < kSpinTime;) {
    for (int i = 0; i < kPausesPerLook; ++i) {
      if (holds())
        return true;
      pause();
    }
    if (spent > kYieldAfter)
      sched_yield();
    auto now = Clock::now();
    spent += std::min<Clock::duration>(now - last, kLongLook);
    last = now;
  }
  return false;
}

int usableCores() {
  static const int cores = [] {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
      return std::clamp(CPU_COUNT(&set), 1, kMaxThreads);
#endif
    return std::clamp(int(std::thread::hardware_concurrency()), 1, kMaxThreads);
  }();
  return cores;
}

// The state of a worker's seat. Only its worker parks it or starts running,
// only the holder of the pool posts, takes back and awaits.
enum State : uint32_t {
  Idle,    // the worker spins, or is about to look
  Parked,  // the worker sleeps
  Posted,  // the caller wants it
  Running, // the worker is at it
  Awaited, // so, and the caller sleeps until it is done
};

// One thread's part of a call, on cache lines of its own (two, because of the
// prefetch of adjacent lines). Seat 0 is the caller's. All but the atomics is
// written before any seat is posted and stays until every worker is done.
struct alignas(128) Seat {
  std::atomic<uint32_t> state{Idle};
  int32_t seats;
  tessera_kernel_fn fn;
  void *const *buffers;
  std::atomic<int64_t> next;
  int64_t end;
  int64_t chunk;
  bool spin; // whether waiting is worth a core
};

thread_local bool insideParallel = false;

// Runs chunks from the own range, then from the others', until none is left.
void work(Seat *seats, int self) {
  const int count = seats[self].seats;
  const tessera_kernel_fn fn = seats[self].fn;
  void *const *buffers = seats[self].buffers;
  for (int i = 0; i < count; ++i) {
    Seat &seat = seats[self + i < count ? self + i : self + i - count];
    // The load spares the owner's cache line when nothing is left.
    while (seat.next.load(std::memory_order_relaxed) < seat.end) {
      int64_t begin =
          seat.next.fetch_add(seat.chunk, std::memory_order_relaxed);
      if (begin >= seat.end)
        break;
      fn(buffers, begin, begin + std::min(seat.chunk, seat.end - begin));
    }
  }
}

// Waits for a post and answers it.
void awaitPost(Seat &seat, bool spin) {
  auto answer = [&] {
    uint32_t expected = Posted;
    return seat.state.load(std::memory_order_relaxed) == Posted &&
           seat.state.compare_exchange_strong(expected, Running,
                                              std::memory_order_acquire,
                                              std::memory_order_relaxed);
  };
  while (!spinUntil(spin, answer)) {
    uint32_t expected = Idle;
    if (seat.state.compare_exchange_strong(expected, Parked,
                                           std::memory_order_relaxed))
      while (seat.state.load(std::memory_order_relaxed) == Parked)
        sleepWhile(seat.state, Parked);
  }
}

void workerMain(Seat *seats, int self) {
  setDefaultFloatEnv();
  insideParallel = true;
  Seat &seat = seats[self];
  bool spin = true;
  while (true) {
    awaitPost(seat, spin);
    spin = seat.spin; // before Idle: then the caller may write it again
    work(seats, self);
    if (seat.state.exchange(Idle, std::memory_order_acq_rel) == Awaited)
      wakeSleeper(seat.state);
  }
}

void post(Seat &seat) {
  if (seat.state.exchange(Posted, std::memory_order_acq_rel) == Parked)
    wakeSleeper(seat.state);
}

// Takes the post back, or waits until the worker that answered it is done.
void settle(Seat &seat, bool spin) {
  uint32_t expected = Posted;
  if (seat.state.load(std::memory_order_relaxed) == Posted &&
      seat.state.compare_exchange_strong(expected, Idle,
                                         std::memory_order_relaxed))
    return;
  // A worker that is done may have parked by now.
  auto isDone = [&] {
    uint32_t state = seat.state.load(std::memory_order_acquire);
    return state == Idle || state == Parked;
  };
  while (!spinUntil(spin, isDone)) {
    expected = Running;
    seat.state.compare_exchange_strong(expected, Awaited,
                                       std::memory_order_relaxed);
    while (seat.state.load(std::memory_order_acquire) == Awaited)
      sleepWhile(seat.state, Awaited);
  }
}

class Pool {
public:
  // The pool of this process: never destroyed, started anew after a fork.
  static Pool &get();

  // Whether the caller now has the pool; then run() releases it.
  bool tryAcquire() {
    return !busy.load(std::memory_order_relaxed) &&
           !busy.exchange(true, std::memory_order_acquire);
  }
  void run(tessera_kernel_fn fn, void *const *buffers, int64_t tiles,
           int threads);

private:
  void startWorkers(int count);

  std::atomic<bool> busy{false};
  int workers = 0; // so far; seats 1 to `workers` are theirs
  Seat seats[kMaxThreads];
};

std::atomic<Pool *> currentPool{nullptr};

Pool &Pool::get() {
  if (Pool *pool = currentPool.load(std::memory_order_acquire))
    return *pool;
  // The child of a fork has no workers, and maybe a pool that was busy: it
  // makes another one when it needs it.
  static const int handler = pthread_atfork(nullptr, nullptr, [] {
    currentPool.store(nullptr, std::memory_order_relaxed);
    insideParallel = false;
  });
  (void)handler;
  Pool *made = new Pool, *other = nullptr;
  if (currentPool.compare_exchange_strong(other, made,
                                          std::memory_order_acq_rel))
    return *made;
  delete made;
  return *other;
}

// Fewer than `count` if the system refuses more threads.
void Pool::startWorkers(int count) {
  // Signals are for the user's threads: workers inherit a mask of all.
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  try {
    while (workers < count) {
      std::thread thread(workerMain, seats, workers + 1);
#ifdef __linux__
      std::string name = "tessera-" + std::to_string(workers + 1);
      pthread_setname_np(thread.native_handle(), name.c_str());
#endif
      thread.detach();
      ++workers;
    }
  } catch (const std::system_error &) {
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

void Pool::run(tessera_kernel_fn fn, void *const *buffers, int64_t tiles,
               int threads) {
  int count = int(std::min<int64_t>(threads, tiles));
  if (workers < count - 1) [[unlikely]]
    startWorkers(count - 1);
  count = std::min(count, workers + 1);
  const bool spin = count <= usableCores();
  const int64_t part = tiles / count, rest = tiles % count;
  int64_t begin = 0;
  for (int i = 0; i < count; ++i) {
    Seat &seat = seats[i];
    int64_t size = part + (i < rest);
    seat.seats = count;
    seat.fn = fn;
    seat.buffers = buffers;
    seat.next.store(begin, std::memory_order_relaxed);
    seat.end = begin += size;
    seat.chunk = std::max<int64_t>(1, size / kChunksPerSeat);
    seat.spin = spin;
  }
  assert(begin == tiles);
  for (int i = 1; i < count; ++i)
    post(seats[i]);
  insideParallel = true;
  work(seats, 0);
  insideParallel = false;
  for (int i = 1; i < count; ++i)
    settle(seats[i], spin);
  busy.store(false, std::memory_order_release);
}

std::atomic<int> defaultThreads{0}; // 0: not known yet

} // namespace

int numThreads() {
  int n = defaultThreads.load(std::memory_order_relaxed);
  if (n > 0)
    return n;
  int initial = int(
      readInteger(Variable::Threads, 1, kMaxThreads).value_or(usableCores()));
  // Another thread may have set it meanwhile; that stands.
  return defaultThreads.compare_exchange_strong(n, initial) ? initial : n;
}

void setNumThreads(int n) {
  if (n < 1 || n > kMaxThreads)
    throw std::invalid_argument("setNumThreads(" + std::to_string(n) +
                                "): expected 1 to " +
                                std::to_string(kMaxThreads));
  defaultThreads.store(n, std::memory_order_relaxed);
}

void parallelFor(tessera_kernel_fn fn, void *const *buffers, int64_t tiles,
                 int threads) {
  if (tiles <= 0)
    return;
  if (threads <= 0)
    threads = numThreads();
  if (threads == 1 || tiles == 1 || insideParallel)
    return fn(buffers, 0, tiles);
  Pool &pool = Pool::get();
  if (!pool.tryAcquire())
    return fn(buffers, 0, tiles);
  pool.run(fn, buffers, tiles, std::min(threads, kMaxThreads));
}

} // namespace tessera::runtime
