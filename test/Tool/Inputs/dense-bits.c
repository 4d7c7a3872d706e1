/* Prints the bits of the dense layer's result, for aarch64.c. */
#include "dense.h"
#include <stdio.h>

int main(void) {
  static _Alignas(64) char arena[DENSE_ARENA_BYTES + 1];
  float x[DENSE_X_ELEMENTS], w[DENSE_W_ELEMENTS], b[DENSE_B_ELEMENTS], loss;
  union {
    float numbers[DENSE_Y_ELEMENTS];
    uint32_t words[DENSE_Y_ELEMENTS];
  } y;
  for (int i = 0; i < DENSE_X_ELEMENTS; ++i)
    x[i] = (float)(i + 1) / 7;
  for (int i = 0; i < DENSE_W_ELEMENTS; ++i)
    w[i] = (float)(i % 5 - 1) / 3;
  for (int i = 0; i < DENSE_B_ELEMENTS; ++i)
    b[i] = (float)i / 9;
  struct dense_buffers buffers = {x, w, b, &loss, y.numbers};
  int code = dense(&buffers, arena, NULL);
  for (int i = 0; i < DENSE_Y_ELEMENTS; ++i)
    printf("%s0x%x", i ? "," : "", y.words[i]);
  return code;
}
