// What this machine can do at most: the rate of FMAs, and the bandwidth of
// copying and reading. Figures are divided by these, so they are taken with the
// widest vectors that the processor has.
#pragma once

#include <cstddef>

namespace tessera::runtime {

// "avx2", "avx512" or "sse2".
const char *roofIsa();

// 10^9 operations a second of `threads` threads together; an FMA is two.
double fmaGflops(int threads);

// 10^9 bytes a second, for arrays of `bytes` bytes that `threads` threads
// share: read and written by ordinary and by streaming stores, and read alone.
struct Bandwidth {
  double copy, stream, read;
};
Bandwidth bandwidth(int threads, size_t bytes);

} // namespace tessera::runtime
