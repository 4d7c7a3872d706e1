// The loops that show a machine's roofs, and their timing.
#include "runtime/Roof.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <immintrin.h>
#include <sys/mman.h>
#include <thread>
#include <vector>

namespace tessera::runtime {

namespace {

double seconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// The loops of one instruction set. Counts are floats, a multiple of 256; all
/// arrays are aligned to 64 bytes.
struct Kernels {
  const char *isa;
  float (*fma)(long rounds);
  int flopsPerRound;
  void (*copy)(float *to, const float *from, size_t count);
  void (*stream)(float *to, const float *from, size_t count);
  float (*read)(const float *from, size_t count);
};

// One definition of the loops for each instruction set: the intrinsics differ
// in their names only. Enough independent accumulators are kept to cover the
// latency of an addition or FMA.
#define TESSERA_ROOF_KERNELS(ISA, TARGET, VECTOR, PREFIX, LANES, CHAINS, FMA)  \
  __attribute__((target(TARGET))) float fma##ISA(long rounds) {                \
    VECTOR sums[CHAINS], scale = PREFIX##_set1_ps(0.999f),                     \
                         step = PREFIX##_set1_ps(1e-3f);                       \
    for (int i = 0; i < CHAINS; ++i)                                           \
      sums[i] = PREFIX##_set1_ps(static_cast<float>(i));                       \
    for (long round = 0; round < rounds; ++round)                              \
      _Pragma("unroll") for (int i = 0; i < CHAINS; ++i) sums[i] =             \
          FMA(sums[i], scale, step);                                           \
    for (int i = 1; i < CHAINS; ++i)                                           \
      sums[0] = PREFIX##_add_ps(sums[0], sums[i]);                             \
    float lanes[LANES];                                                        \
    PREFIX##_storeu_ps(lanes, sums[0]);                                        \
    return lanes[0];                                                           \
  }                                                                            \
  __attribute__((target(TARGET))) void copy##ISA(float *to, const float *from, \
                                                 size_t count) {               \
    for (size_t i = 0; i < count; i += 4 * LANES)                              \
      _Pragma("unroll") for (size_t j = 0; j < 4 * LANES; j += LANES)          \
          PREFIX##_store_ps(to + i + j, PREFIX##_load_ps(from + i + j));       \
  }                                                                            \
  __attribute__((target(TARGET))) void stream##ISA(                            \
      float *to, const float *from, size_t count) {                            \
    for (size_t i = 0; i < count; i += 4 * LANES)                              \
      _Pragma("unroll") for (size_t j = 0; j < 4 * LANES; j += LANES)          \
          PREFIX##_stream_ps(to + i + j, PREFIX##_load_ps(from + i + j));      \
    _mm_sfence();                                                              \
  }                                                                            \
  __attribute__((target(TARGET))) float read##ISA(const float *from,           \
                                                  size_t count) {              \
    VECTOR sums[8];                                                            \
    for (VECTOR &sum : sums)                                                   \
      sum = PREFIX##_setzero_ps();                                             \
    for (size_t i = 0; i < count; i += 8 * LANES)                              \
      _Pragma("unroll") for (size_t j = 0; j < 8; ++j) sums[j] =               \
          PREFIX##_add_ps(sums[j], PREFIX##_load_ps(from + i + j * LANES));    \
    for (int i = 1; i < 8; ++i)                                                \
      sums[0] = PREFIX##_add_ps(sums[0], sums[i]);                             \
    float lanes[LANES];                                                        \
    PREFIX##_storeu_ps(lanes, sums[0]);                                        \
    return lanes[0];                                                           \
  }                                                                            \
  constexpr Kernels kernels##ISA = {                                           \
      #ISA, fma##ISA, 2 * CHAINS * LANES, copy##ISA, stream##ISA, read##ISA};

#define TESSERA_MUL_ADD(A, B, C) _mm_add_ps(_mm_mul_ps(A, B), C)
TESSERA_ROOF_KERNELS(sse2, "sse2", __m128, _mm, 4, 12, TESSERA_MUL_ADD)
TESSERA_ROOF_KERNELS(avx2, "avx2,fma", __m256, _mm256, 8, 12, _mm256_fmadd_ps)
TESSERA_ROOF_KERNELS(avx512, "avx512f", __m512, _mm512, 16, 14, _mm512_fmadd_ps)

const Kernels &bestKernels() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f"))
    return kernelsavx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return kernelsavx2;
  return kernelssse2;
}

constexpr int kAttempts = 25;

volatile float sink; // keeps results from being optimised away

/// Seconds that `work(thread)` takes when all threads do it at once: from the
/// first start to the last end.
double timeTogether(int threads, const std::function<void(int)> &work) {
  std::atomic<int> ready{0};
  std::vector<double> start(threads), end(threads);
  auto body = [&](int thread) {
    ++ready;
    while (ready < threads)
      _mm_pause();
    start[thread] = seconds();
    work(thread);
    end[thread] = seconds();
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread)
    others.emplace_back(body, thread);
  body(0);
  for (std::thread &other : others)
    other.join();
  return *std::max_element(end.begin(), end.end()) -
         *std::min_element(start.begin(), start.end());
}

/// The best of several tries: a roof is what is possible, not what is usual.
double bestTime(int threads, const std::function<void(int)> &work) {
  double best = 1e30;
  for (int attempt = 0; attempt < kAttempts; ++attempt)
    best = std::min(best, timeTogether(threads, work));
  return best;
}

/// Each thread's part of the arrays, in pages that it touched first.
class Arrays {
public:
  Arrays(int threads, size_t count) : parts(size_t(threads)) {
    timeTogether(threads, [&](int thread) {
      parts[size_t(thread)] = {make(count, 1.0f), make(count, 0.0f)};
    });
  }
  ~Arrays() {
    for (Part part : parts) {
      std::free(part.from);
      std::free(part.to);
    }
  }
  Arrays(const Arrays &) = delete;

  struct Part {
    float *from, *to;
  };
  std::vector<Part> parts;

private:
  static float *make(size_t count, float value) {
    // Huge pages where the kernel has them: page walks are no part of a roof.
    size_t hugePage = size_t(2) << 20;
    size_t size = (count * sizeof(float) + hugePage - 1) / hugePage * hugePage;
    auto *data = static_cast<float *>(std::aligned_alloc(hugePage, size));
    if (!data)
      throw std::bad_alloc();
    ::madvise(data, size, MADV_HUGEPAGE);
    std::fill_n(data, count, value);
    return data;
  }
};

} // namespace

const char *roofIsa() { return bestKernels().isa; }

double fmaGflops(int threads) {
  const Kernels &kernels = bestKernels();
  constexpr long rounds = 1'000'000;
  double fma = bestTime(threads, [&](int) { sink = kernels.fma(rounds); });
  return 1e-9 * kernels.flopsPerRound * rounds * threads / fma;
}

Bandwidth bandwidth(int threads, size_t bytes) {
  const Kernels &kernels = bestKernels();
  size_t count = std::max<size_t>(
      bytes / sizeof(float) / size_t(threads) / 256 * 256, 256);
  Arrays arrays(threads, count);
  size_t repeats = std::clamp<size_t>(
      (size_t(16) << 20) / (count * sizeof(float) * size_t(threads)), 1, 4000);
  double moved = double(count) * sizeof(float) * threads * double(repeats);
  auto rate = [&](double total, auto &&once) {
    return total * 1e-9 / bestTime(threads, [&](int thread) {
             for (size_t i = 0; i < repeats; ++i)
               once(arrays.parts[size_t(thread)]);
           });
  };
  using Part = Arrays::Part;
  return {rate(2 * moved, [&](Part a) { kernels.copy(a.to, a.from, count); }),
          rate(2 * moved, [&](Part a) { kernels.stream(a.to, a.from, count); }),
          rate(moved, [&](Part a) { sink = kernels.read(a.from, count); })};
}

} // namespace tessera::runtime
