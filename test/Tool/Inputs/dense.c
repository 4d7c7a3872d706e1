/* Calls the dense layer as a C program does, and shows what its errors say. */
#include "dense.h"
#include <stdio.h>
#include <string.h>

static int calls;
static int64_t tiles_seen;

/* Two halves, the second first: any partition gives the same bits. */
static void halves(const tessera_host *host, tessera_kernel_fn fn,
                   void *const *buffers, int64_t tiles) {
  (void)host;
  ++calls;
  tiles_seen += tiles;
  fn(buffers, tiles / 2, tiles);
  fn(buffers, 0, tiles / 2);
}

int main(void) {
  float x[DENSE_X_ELEMENTS], w[DENSE_W_ELEMENTS], b[DENSE_B_ELEMENTS], loss,
      y[DENSE_Y_ELEMENTS];
  static char memory[DENSE_ARENA_BYTES + 2 * DENSE_ARENA_ALIGNMENT];
  char *arena = memory + (DENSE_ARENA_ALIGNMENT -
                          (uintptr_t)memory % DENSE_ARENA_ALIGNMENT);
  const int64_t shape[] = DENSE_Y_SHAPE;
  for (int i = 0; i < DENSE_X_ELEMENTS; ++i)
    x[i] = (float)(i % 3) - 1;
  for (int i = 0; i < DENSE_W_ELEMENTS; ++i)
    w[i] = (float)(i % 5) / 4;
  for (int i = 0; i < DENSE_B_ELEMENTS; ++i)
    b[i] = (float)i;
  struct dense_buffers buffers = {x, w, b, &loss, y};
  const tessera_host host = {halves, NULL, 2};
  int code = dense(&buffers, arena, NULL);
  printf("%d: loss %g, y[2][4] %g of %d rows\n", code, loss,
         y[DENSE_Y_ELEMENTS - 1], (int)shape[0]);
  float before[DENSE_Y_ELEMENTS];
  memcpy(before, y, sizeof y);
  code = dense(&buffers, arena, &host);
  printf("%d: %s bits with a host\n", code,
         memcmp(before, y, sizeof y) == 0 ? "the same" : "other");

  buffers.w = NULL;
  code = dense(&buffers, arena, NULL);
  printf("%s: %s\n", tessera_error_text(code), dense_error_field(code));
  buffers.w = (const float *)(const void *)((const char *)w + 1);
  code = dense(&buffers, arena, NULL);
  printf("%s: %s\n", tessera_error_text(code), dense_error_field(code));
  buffers.w = w;
  code = dense(&buffers, NULL, NULL);
  printf("%s\n", tessera_error_text(code));
  code = dense(&buffers, arena + 8, NULL);
  printf("%s\n", tessera_error_text(code));
  printf("hash %s\n",
         strcmp(DENSE_HASH, dense_program.hash) == 0 ? "fits" : "differs");
  for (int64_t i = 0; i < dense_program.count; ++i)
    printf("%s %s rank %d use %d\n", dense_program.tensors[i].name,
           dense_program.tensors[i].dtype, (int)dense_program.tensors[i].rank,
           (int)dense_program.tensors[i].use);
  return 0;
}
