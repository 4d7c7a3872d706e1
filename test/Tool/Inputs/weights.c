/* One program twice: with its weights inside, and with those of a file. */
#include "embedded.h"
#include "passed.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  float x[PASSED_X_ELEMENTS], loss[2], y[2][PASSED_Y_ELEMENTS];
  static double memory[(PASSED_ARENA_BYTES + EMBEDDED_ARENA_BYTES + 128) / 8];
  char *arena = (char *)memory + (64 - (uintptr_t)memory % 64);
  static double file[4096];
  FILE *stream = argc > 1 ? fopen(argv[1], "rb") : NULL;
  if (!stream)
    return 1;
  size_t bytes = fread(file, 1, sizeof file, stream);
  fclose(stream);
  for (int i = 0; i < PASSED_X_ELEMENTS; ++i)
    x[i] = 1;
  struct embedded_buffers embedded_with = {x, &loss[0], y[0]};
  struct passed_buffers passed_with = {0};
  passed_with.x = x;
  passed_with.loss = &loss[1];
  passed_with.y = y[1];
  if (embedded(&embedded_with, arena, NULL) ||
      passed_bind_weights(&passed_with, file, bytes) ||
      passed(&passed_with, arena, NULL))
    return 1;
  printf("%s: %g\n",
         memcmp(y[0], y[1], sizeof y[0]) == 0 ? "the same" : "other", y[0][4]);
  printf("another file: %s\n", tessera_error_text(passed_bind_weights(
                                   &passed_with, file, bytes - 1)));
  return 0;
}
