// Measures what this machine can do at most: FMA rate, and bandwidth of copying
// and reading by size of the arrays.
//
//   roof [THREADS]     prints one JSON object; sizes are those of one array,
//   rates those of all threads together
//
// The benchmark's table divides by these figures, so they are taken with the
// widest vectors that the processor has.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <immintrin.h>
#include <sys/mman.h>
#include <thread>
#include <vector>

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
  for (int attempt = 0; attempt < 25; ++attempt)
    best = std::min(best, timeTogether(threads, work));
  return best;
}

void printBandwidths(const Kernels &kernels, int threads, size_t bytes,
                     bool last) {
  // Each thread has its part of the arrays, in pages that it touched first.
  size_t count =
      std::max<size_t>(bytes / sizeof(float) / threads / 256 * 256, 256);
  struct Arrays {
    float *from, *to;
  };
  std::vector<Arrays> arrays(threads);
  timeTogether(threads, [&](int thread) {
    auto make = [&](float value) {
      // Huge pages where the kernel has them: page walks are no part of a roof.
      size_t hugePage = size_t(2) << 20;
      size_t size =
          (count * sizeof(float) + hugePage - 1) / hugePage * hugePage;
      auto *data = static_cast<float *>(std::aligned_alloc(hugePage, size));
      if (!data)
        std::abort();
      ::madvise(data, size, MADV_HUGEPAGE);
      std::fill_n(data, count, value);
      return data;
    };
    arrays[thread] = {make(1.0f), make(0.0f)};
  });
  size_t repeats = std::clamp<size_t>(
      (size_t(16) << 20) / (count * sizeof(float) * threads), 1, 4000);
  double moved =
      static_cast<double>(count) * sizeof(float) * threads * repeats * 1e-9;
  auto rate = [&](double gigabytes, auto &&once) {
    return gigabytes / bestTime(threads, [&](int thread) {
             for (size_t i = 0; i < repeats; ++i)
               once(arrays[thread]);
           });
  };
  double copy =
      rate(2 * moved, [&](Arrays a) { kernels.copy(a.to, a.from, count); });
  double stream =
      rate(2 * moved, [&](Arrays a) { kernels.stream(a.to, a.from, count); });
  double read =
      rate(moved, [&](Arrays a) { sink = kernels.read(a.from, count); });
  std::printf("    {\"kib\": %zu, \"copy_gbs\": %.1f, \"stream_gbs\": %.1f, "
              "\"read_gbs\": %.1f}%s\n",
              bytes / 1024, copy, stream, read, last ? "" : ",");
  for (Arrays a : arrays) {
    std::free(a.from);
    std::free(a.to);
  }
}

} // namespace

int main(int argc, char **argv) {
  int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  if (threads < 1 || threads > 1024) {
    std::fprintf(stderr, "usage: roof [THREADS]\n");
    return 2;
  }
  const Kernels &kernels = bestKernels();
  constexpr long rounds = 1'000'000;
  double fma = bestTime(threads, [&](int) { sink = kernels.fma(rounds); });
  std::printf("{\n  \"threads\": %d,\n  \"isa\": \"%s\",\n  \"fma_gflops\": "
              "%.1f,\n  \"bandwidth\": [\n",
              threads, kernels.isa,
              1e-9 * kernels.flopsPerRound * rounds * threads / fma);
  const size_t sizes[] = {16, 64, 256, 1024, 4096, 16384, 65536};
  for (size_t kib : sizes)
    printBandwidths(kernels, threads, kib * 1024,
                    kib == sizes[std::size(sizes) - 1]);
  std::printf("  ]\n}\n");
}
