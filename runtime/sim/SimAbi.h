/* The C ABI between kernels compiled for the SIMT emulator and the emulator. */
#ifndef TESSERA_RUNTIME_SIM_SIMABI_H
#define TESSERA_RUNTIME_SIM_SIMABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a kernel reads of the thread that it runs as. The special registers of
 * the PTX ISA, section "Special Registers", are plain fields. */
typedef struct tessera_sim_lane {
  uint32_t tid[3], ntid[3], ctaid[3], nctaid[3];
  uint32_t laneid, warpid, nwarpid, padding;
  char *shared;        /* The block's shared memory. */
  uint64_t operations; /* How many this thread has executed, if counted. */
} tessera_sim_lane;

/* A place in the source that an operation comes from. Names are offsets of
 * null-terminated strings in the kernel's `strings`. */
typedef struct tessera_sim_site {
  uint32_t file, line, column, op;
} tessera_sim_site;

/* An array in shared memory: `bytes` from `offset`. */
typedef struct tessera_sim_array {
  uint32_t name, offset, bytes;
} tessera_sim_array;

/* A compiled kernel: code and all that a launch must know of it. */
typedef struct tessera_sim_kernel {
  /* args[i] points to the value of argument i. */
  void (*entry)(tessera_sim_lane *lane, void *const *args);
  const char *strings;
  const tessera_sim_site *sites;
  const tessera_sim_array *arrays;
  uint32_t name, num_args, num_sites, num_arrays;
  /* Where dynamic shared memory starts; the static arrays end before. */
  uint32_t dynamic_offset;
  /* What the arrays take on a device, without the gaps between them. */
  uint32_t static_bytes;
  /* The smallest piece of shared memory that one access may concern: 1 to 4. */
  uint32_t granule;
  /* What the code reports to the emulator. */
  uint32_t reports;
  /* From nvvm.reqntid and nvvm.maxntid; 0 where it does not say. */
  uint32_t required_block[3], max_threads;
} tessera_sim_kernel;

/* The bits of `reports`. */
enum {
  TESSERA_SIM_CHECKED = 1, /* Accesses, for checks. */
  TESSERA_SIM_COUNTED = 2  /* Accesses, branches and operations, to count. */
};

/* The flags of an access: its alignment as a power of two in the low byte, the
 * rest by these bits. */
enum {
  TESSERA_SIM_READ = 1 << 8,
  TESSERA_SIM_WRITE = 1 << 9,
  TESSERA_SIM_ATOMIC = 1 << 10,
  TESSERA_SIM_ACQUIRE = 1 << 11,
  TESSERA_SIM_RELEASE = 1 << 12,
  TESSERA_SIM_SHARED = 1 << 13, /* The pointer is in address space 3. */
  TESSERA_SIM_GLOBAL = 1 << 14  /* The pointer is in address space 1. */
};

/* Values of the `kind` arguments below are those of MLIR's NVVM enumerations:
 * ShflKind, VoteSyncKind, ReduxKind, BarrierReduction. A barrier's `threads` is
 * 0 for all of the block. `site` is an index into the kernel's sites. */
void tessera_sim_access(tessera_sim_lane *, const void *address, uint64_t bytes,
                        uint32_t flags, uint32_t site);
/* An access to a constant of the module that has `size` bytes at `base`. */
void tessera_sim_constant_access(tessera_sim_lane *, const void *address,
                                 uint64_t bytes, const void *base,
                                 uint64_t size, uint32_t site);
void tessera_sim_fence(tessera_sim_lane *, uint32_t acquire, uint32_t release);
/* Lets other threads run: between two looks of a loop that waits for them. */
void tessera_sim_yield(tessera_sim_lane *, uint32_t site);
void tessera_sim_branch(tessera_sim_lane *, uint32_t taken, uint32_t site);
void tessera_sim_trap(tessera_sim_lane *, uint32_t site);

void tessera_sim_barrier(tessera_sim_lane *, uint32_t id, uint32_t threads,
                         uint32_t site);
uint32_t tessera_sim_barrier_reduce(tessera_sim_lane *, uint32_t id,
                                    uint32_t threads, uint32_t kind,
                                    uint32_t predicate, uint32_t site);
void tessera_sim_barrier_arrive(tessera_sim_lane *, uint32_t id,
                                uint32_t threads, uint32_t site);

void tessera_sim_warp_sync(tessera_sim_lane *, uint32_t mask, uint32_t site);
/* The value, and in bit 32 whether the source lane is in range. */
uint64_t tessera_sim_shuffle(tessera_sim_lane *, uint32_t kind, uint32_t mask,
                             uint32_t value, uint32_t offset,
                             uint32_t mask_and_clamp, uint32_t site);
uint32_t tessera_sim_vote(tessera_sim_lane *, uint32_t kind, uint32_t mask,
                          uint32_t predicate, uint32_t site);
uint32_t tessera_sim_redux(tessera_sim_lane *, uint32_t kind, uint32_t mask,
                           uint32_t value, uint32_t propagate_nan,
                           uint32_t site);
/* The mask of the lanes of the same value, and in bit 32 the predicate. */
uint64_t tessera_sim_match(tessera_sim_lane *, uint32_t all, uint32_t mask,
                           uint64_t value, uint32_t site);
uint32_t tessera_sim_elect(tessera_sim_lane *, uint32_t mask, uint32_t site);

void tessera_sim_copy_async(tessera_sim_lane *, void *shared,
                            const void *global, uint32_t bytes,
                            uint32_t source_bytes, uint32_t site);
void tessera_sim_copy_commit(tessera_sim_lane *);
/* Until at most `left` groups are pending. */
void tessera_sim_copy_wait(tessera_sim_lane *, uint32_t left, uint32_t site);

/* `count` 8x8 matrices of 16-bit elements, one register each in `result`. */
void tessera_sim_load_matrix(tessera_sim_lane *, const void *row,
                             uint32_t count, uint32_t transposed,
                             uint32_t *result, uint32_t site);
/* `shape` is an index into the table of Fragments.h; `operands` has the
 * registers of A, B and C in this order. */
void tessera_sim_mma(tessera_sim_lane *, uint32_t shape,
                     const uint32_t *operands, uint32_t *result, uint32_t site);

/* Conversions, to nearest even; a NaN becomes the device's quiet NaN. */
uint32_t tessera_sim_f32_to_f16(float value);
uint32_t tessera_sim_f32_to_bf16(float value);
float tessera_sim_f16_to_f32(uint32_t bits);
float tessera_sim_bf16_to_f32(uint32_t bits);
/* To tf32: 10 bits of fraction, ties away from zero or to even. */
uint32_t tessera_sim_f32_to_tf32(float value, uint32_t ties_away);

/* Runs blocks [begin, end) of the kernel's grid, in the session of the calling
 * thread. `launch` holds the threads of a block, the dynamic shared memory and
 * the most that a block may have, both in bytes, the number of buffers, and
 * which of them is the symbolic dimensions, or -1; then as formulas the blocks
 * of the grid and the bytes of each buffer. A formula is a number, how many
 * terms it has, and the five numbers of each (runtime::SizeFormula). */
void tessera_sim_run(const tessera_sim_kernel *, const int64_t *launch,
                     void *const *buffers, int64_t begin, int64_t end);

/* Every function above, for whoever links compiled kernels. */
#define TESSERA_SIM_FUNCTIONS(X)                                               \
  X(tessera_sim_access)                                                        \
  X(tessera_sim_constant_access)                                               \
  X(tessera_sim_fence)                                                         \
  X(tessera_sim_yield)                                                         \
  X(tessera_sim_branch)                                                        \
  X(tessera_sim_trap)                                                          \
  X(tessera_sim_barrier)                                                       \
  X(tessera_sim_barrier_reduce)                                                \
  X(tessera_sim_barrier_arrive)                                                \
  X(tessera_sim_warp_sync)                                                     \
  X(tessera_sim_shuffle)                                                       \
  X(tessera_sim_vote)                                                          \
  X(tessera_sim_redux)                                                         \
  X(tessera_sim_match)                                                         \
  X(tessera_sim_elect)                                                         \
  X(tessera_sim_copy_async)                                                    \
  X(tessera_sim_copy_commit)                                                   \
  X(tessera_sim_copy_wait)                                                     \
  X(tessera_sim_load_matrix)                                                   \
  X(tessera_sim_mma)                                                           \
  X(tessera_sim_f32_to_f16)                                                    \
  X(tessera_sim_f32_to_bf16)                                                   \
  X(tessera_sim_f16_to_f32)                                                    \
  X(tessera_sim_bf16_to_f32)                                                   \
  X(tessera_sim_f32_to_tf32)                                                   \
  X(tessera_sim_run)

#ifdef __cplusplus
}
#endif

#endif
