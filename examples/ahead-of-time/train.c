/* Trains the digits classifier in plain C: forward, backward and Adam are one
 * compiled function. usage: train FOLDER, which `digits --export` has filled.
 * The trained weights go to FOLDER/trained.safetensors, to the same bits as
 * those of the C++ program. */
#include "digits_step.h"
#include <stdio.h>
#include <stdlib.h>

/* A whole file, aligned for any element, or the end of the program. */
static char *read_file(const char *folder, const char *name, size_t *bytes) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0)
    exit((perror(path), 1));
  *bytes = (size_t)ftell(file);
  rewind(file);
  char *data = malloc(*bytes);
  if (!data || fread(data, 1, *bytes, file) != *bytes)
    exit((perror(path), 1));
  fclose(file);
  return data;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return fprintf(stderr, "usage: train FOLDER\n"), 2;
  size_t image_bytes, label_bytes, weight_bytes;
  char *images = read_file(argv[1], "images.npy", &image_bytes);
  char *labels = read_file(argv[1], "labels.npy", &label_bytes);
  char *weights = read_file(argv[1], "step.safetensors", &weight_bytes);
  float loss = 0;
  struct digits_step_buffers buffers = {.loss = &loss};
  int code = digits_step_bind_weights(&buffers, weights, weight_bytes);
  void *arena = aligned_alloc(DIGITS_STEP_ARENA_ALIGNMENT,
                              (DIGITS_STEP_ARENA_BYTES + 63) / 64 * 64);
  /* The data of an npy file are what follows its header, of 128 bytes here. */
  size_t step_bytes = DIGITS_STEP_IMAGES_ELEMENTS * sizeof(float);
  size_t steps = (image_bytes - 128) / step_bytes;
  for (size_t i = 0; i < steps && code == TESSERA_OK; ++i) {
    buffers.images =
        (const float *)(void *)(images + 128) + i * DIGITS_STEP_IMAGES_ELEMENTS;
    buffers.labels = (const int32_t *)(void *)(labels + 128) +
                     i * DIGITS_STEP_LABELS_ELEMENTS;
    code = digits_step(&buffers, arena, NULL);
  }
  if (code != TESSERA_OK)
    return fprintf(stderr, "train: %s %s\n", tessera_error_text(code),
                   digits_step_error_field(code)),
           1;
  char path[4096];
  snprintf(path, sizeof path, "%s/trained.safetensors", argv[1]);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(weights, 1, weight_bytes, file) != weight_bytes ||
      fclose(file) != 0)
    return perror(path), 1;
  printf("%zu steps, last loss %.4f\n", steps, loss);
  return 0;
}
