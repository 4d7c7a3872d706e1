/* Calls one object for several batch sizes, beside objects that were compiled
 * for each, and shows its errors. */
#include "batch.h"
#include "batch130.h"
#include "batch3.h"
#include "batch64.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 130 };
static float x[BATCH_X_ELEMENTS(MOST)], w[BATCH_W_ELEMENTS];
static struct outputs {
  float mean[BATCH_MEAN_ELEMENTS], y[BATCH_Y_ELEMENTS(MOST)], sum,
      later[BATCH_LATER_ELEMENTS(MOST)];
} ours, theirs;

static void *arena_of(int64_t bytes) {
  return aligned_alloc(BATCH_ARENA_ALIGNMENT,
                       (size_t)(bytes + BATCH_ARENA_ALIGNMENT) /
                           BATCH_ARENA_ALIGNMENT * BATCH_ARENA_ALIGNMENT);
}

/* Two halves, the second first. */
static void halves(const tessera_host *host, tessera_kernel_fn fn,
                   void *const *buffers, int64_t tiles) {
  (void)host;
  fn(buffers, tiles / 2, tiles);
  fn(buffers, 0, tiles / 2);
}

/* Any program by its description, with the fields in the order that both kinds
 * of object have. */
static int run(const struct tessera_program *program, struct outputs *to,
               const void *dims, const tessera_host *host) {
  memset(to, 0, sizeof *to);
  const void *buffers[] = {x, w, to->mean, to->y, &to->sum, to->later};
  void *arena =
      arena_of(program->arena_bytes_for ? program->arena_bytes_for(dims)
                                        : program->arena_bytes);
  int code = program->run(buffers, dims, arena, host);
  free(arena);
  return code;
}

static void compare(int64_t batch, const struct tessera_program *fixed) {
  const struct batch_dims dims = {batch};
  const tessera_host host = {halves, NULL, 2};
  int b = run(fixed, &theirs, NULL, NULL);
  int a = run(&batch_program, &ours, &dims, NULL);
  int same = memcmp(&ours, &theirs, sizeof ours) == 0;
  int c = run(&batch_program, &ours, &dims, &host);
  same &= memcmp(&ours, &theirs, sizeof ours) == 0;
  printf("%d: %d %d %d, %s bits, sum near %.0f\n", (int)batch, a, b, c,
         same ? "the same" : "other", ours.sum);
}

static void show(int code) {
  printf("%s: %s %s\n", tessera_error_text(code), batch_error_field(code),
         batch_error_range(code));
}

int main(void) {
  for (int i = 0; i < BATCH_X_ELEMENTS(MOST); ++i)
    x[i] = (float)(i * 37 % 101) / 64 - 0.75f;
  for (int i = 0; i < BATCH_W_ELEMENTS; ++i)
    w[i] = (float)(i * 29 % 97) / 128 - 0.25f;
  compare(3, &batch3_program);
  compare(64, &batch64_program);
  compare(130, &batch130_program);

  const int64_t shape[] = BATCH_LATER_SHAPE(10);
  printf("later is %d by %d\n", (int)shape[0], (int)shape[1]);
  struct batch_dims dims = {2};
  struct batch_buffers buffers = {x, w, ours.mean, ours.y, &ours.sum, NULL};
  printf("arena %d\n", (int)batch_arena_bytes(&dims));
  show(batch(&buffers, &dims, NULL, NULL));
  dims.batch = -1;
  show(batch(&buffers, &dims, NULL, NULL));
  dims.batch = INT64_MAX;
  show(batch(&buffers, &dims, NULL, NULL));
  show(batch(&buffers, NULL, NULL, NULL));
  dims.batch = 4;
  show(batch(&buffers, &dims, NULL, NULL));
  dims.batch = 3; /* later is empty then, and may be null */
  show(batch(&buffers, &dims, NULL, NULL));
  void *arena = arena_of(batch_arena_bytes(&dims));
  show(batch(&buffers, &dims, arena, NULL));
  free(arena);
  const struct tessera_tensor *later = &batch_program.tensors[5];
  printf("%s: dimension %d is %d * %s + %d, of %d bytes each\n", later->name,
         (int)later->symbolic_dim, (int)later->coefficient,
         batch_program.symbols[later->symbol].name, (int)later->constant,
         (int)later->bytes);
  return 0;
}
