/* A server of a model in plain C. */
#include "mean.h"
#include <stdio.h>

int main(void) {
  float numbers[MEAN_NUMBERS_ELEMENTS] = {1, 2, 3, 4, 5, 6, 7, 9}, mean_value;
  struct mean_buffers buffers = {numbers, &mean_value};
  static double arena[MEAN_ARENA_BYTES / 8 + 8];
  int code = mean(&buffers, (char *)arena + (64 - (uintptr_t)arena % 64), NULL);
  printf("%s: %g\n", tessera_error_text(code), mean_value);
  return code;
}
