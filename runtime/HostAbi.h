/* The C ABI between compiled code and whoever calls it: plain C, no library. */
#ifndef TESSERA_RUNTIME_HOSTABI_H
#define TESSERA_RUNTIME_HOSTABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A launch of a kernel: runs the tiles [begin, end). Which tiles there are
 * depends on the shapes only, so any partition gives the same bits. */
typedef void (*tessera_kernel_fn)(void *const *buffers, int64_t begin,
                                  int64_t end);

/* What compiled code may ask of its caller. A null host, and a null
 * parallel_for, run every tile on the calling thread. */
typedef struct tessera_host {
  /* Runs fn on all of [0, tiles), in any order and partition, and returns when
   * the last tile is done. */
  void (*parallel_for)(const struct tessera_host *host, tessera_kernel_fn fn,
                       void *const *buffers, int64_t tiles);
  /* For the implementer of parallel_for; compiled code reads neither. */
  void *context;
  int64_t threads;
} tessera_host;

/* Filled when an entry returns non-zero: which op's check failed, and the
 * values that the message of that check quotes. */
typedef struct tessera_status {
  int64_t op;
  int64_t values[4];
} tessera_status;

/* An executable. buffers holds the inputs, then the outputs; 0-d values are
 * buffers too. dims holds the symbolic dimensions, or is null. arena is scratch
 * memory, 64-byte aligned, of the size the executable states. Returns 0, or
 * non-zero with *status filled. */
typedef int (*tessera_entry_fn)(const tessera_host *host, void *const *buffers,
                                const int64_t *dims, void *arena,
                                tessera_status *status);

#ifdef __cplusplus
}
#endif
#endif
