/* The main function of executables that `tessera compile --emit=exe` makes:
 * reads the inputs from npy files, computes once, writes the outputs. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As in the headers of compiled programs. */
struct tessera_tensor {
  const char *name, *dtype;
  int64_t bytes;
  int32_t rank, use;
  const int64_t *shape;
  int64_t symbolic_dim, symbol, coefficient, constant;
};
struct tessera_symbol {
  const char *name;
  int64_t least, most;
  const char *range;
};
struct tessera_host;
struct tessera_program {
  const char *name, *hash;
  int64_t arena_bytes, arena_alignment, count;
  const struct tessera_tensor *tensors;
  int64_t symbol_count;
  const struct tessera_symbol *symbols;
  int64_t (*arena_bytes_for)(const void *dims);
  int (*run)(const void *buffers, const void *dims, void *arena,
             const struct tessera_host *host);
};
extern const struct tessera_program tessera_main_program;

enum { kRead = 1, kWritten = 2 };

static const struct tessera_program *const program = &tessera_main_program;

/* The sizes of the symbolic dimensions, -1 until a file tells. */
static int64_t *dims;

static void usage(FILE *to) {
  fprintf(to, "usage: %s NAME=FILE.npy...\n\n", program->name);
  for (int64_t i = 0; i < program->count; ++i) {
    const struct tessera_tensor *t = &program->tensors[i];
    fprintf(to, "  %-20s %s[", t->name, t->dtype);
    for (int32_t d = 0; d < t->rank; ++d) {
      fprintf(to, d ? "," : "");
      if (d != t->symbolic_dim)
        fprintf(to, "%lld", (long long)t->shape[d]);
      else {
        if (t->coefficient != 1)
          fprintf(to, "%lld * ", (long long)t->coefficient);
        fprintf(to, "%s", program->symbols[t->symbol].name);
        if (t->constant != 0)
          fprintf(to, " %+lld", (long long)t->constant);
      }
    }
    fprintf(to, "]  %s\n", t->use & kRead ? "read" : "written");
  }
}

static int complain(const char *what, const char *about) {
  fprintf(stderr, "%s: error: %s: %s\n", program->name, about, what);
  return 1;
}

/* numpy's name of a dtype; bf16 is raw bytes there. */
static const char *descriptor(const char *dtype) {
  static const char *const names[][2] = {
      {"f32", "<f4"},  {"f64", "<f8"},  {"f16", "<f2"},
      {"bf16", "<V2"}, {"bool", "|b1"}, {"i8", "|i1"},
      {"i16", "<i2"},  {"i32", "<i4"},  {"i64", "<i8"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (strcmp(names[i][0], dtype) == 0)
      return names[i][1];
  return "?";
}

/* The size of a tensor's symbolic dimension, or -1 if it is not known yet. */
static int64_t symbolic_size(const struct tessera_tensor *t) {
  int64_t size = dims[t->symbol];
  return size < 0 ? -1 : t->coefficient * size + t->constant;
}

static int64_t bytes_of(const struct tessera_tensor *t) {
  return t->symbolic_dim < 0 ? t->bytes : t->bytes * symbolic_size(t);
}

/* The header that numpy writes for this tensor, without the padding; '?' stands
 * for a size that is not known yet. */
static void header_of(const struct tessera_tensor *t, char *to, size_t room) {
  size_t used = (size_t)snprintf(
      to, room, "{'descr': '%s', 'fortran_order': False, 'shape': (",
      descriptor(t->dtype));
  for (int32_t d = 0; d < t->rank && used < room; ++d) {
    int64_t size = d == t->symbolic_dim ? symbolic_size(t) : t->shape[d];
    if (size < 0)
      used += (size_t)snprintf(to + used, room - used, "%s?", d ? ", " : "");
    else
      used += (size_t)snprintf(to + used, room - used, "%s%lld", d ? ", " : "",
                               (long long)size);
  }
  if (used < room)
    snprintf(to + used, room - used, "%s), }", t->rank == 1 ? "," : "");
}

/* Compares without the spaces, in which writers differ. Where b has a '?', a
 * has a number, which becomes *size. */
static int same_header(const char *a, const char *b, long long *size) {
  for (;; ++a, ++b) {
    while (*a == ' ' || *a == '\n')
      ++a;
    while (*b == ' ' || *b == '\n')
      ++b;
    if (*b == '?' && *a >= '0' && *a <= '9') {
      char *end;
      *size = strtoll(a, &end, 10);
      a = end - 1;
      continue;
    }
    if (*a != *b)
      return 0;
    if (*a == '\0')
      return 1;
  }
}

/* Notes what the size of a tensor's symbolic dimension tells of the symbol;
 * what is wrong with it, or null. */
static const char *note_size(const struct tessera_tensor *t, long long size) {
  const struct tessera_symbol *symbol = &program->symbols[t->symbol];
  int64_t value = (size - t->constant) / t->coefficient;
  if (value * t->coefficient + t->constant != size || value < symbol->least ||
      value > symbol->most) {
    fprintf(stderr, "%s: error: %s must be %s\n", program->name, symbol->name,
            symbol->range);
    return "its size does not fit";
  }
  dims[t->symbol] = value;
  return NULL;
}

/* Reads the header of a file that is open, and what it tells of the sizes. */
static const char *read_header(const struct tessera_tensor *t, FILE *file) {
  unsigned char start[12];
  char header[4096], expected[1024];
  if (fread(start, 1, 10, file) != 10 || memcmp(start, "\x93NUMPY", 6) != 0)
    return "it is no npy file";
  size_t length = start[8] | (size_t)start[9] << 8;
  if (start[6] > 1) {
    if (fread(start + 10, 1, 2, file) != 2)
      length = sizeof header;
    else
      length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
  }
  if (length >= sizeof header || fread(header, 1, length, file) != length)
    return "its header is damaged";
  header[length] = '\0';
  header_of(t, expected, sizeof expected);
  long long size = -1;
  if (!same_header(header, expected, &size)) {
    fprintf(stderr, "%s: error: expected %s\n", program->name, expected);
    return "it holds another type";
  }
  return size < 0 ? NULL : note_size(t, size);
}

static void *aligned(int64_t bytes) {
  size_t rounded = ((size_t)bytes + 64) / 64 * 64;
  return aligned_alloc(64, rounded);
}

/* The tensor that a file holds; null after a message. */
static void *read_npy(const struct tessera_tensor *t, const char *path) {
  void *data = NULL;
  FILE *file = fopen(path, "rb");
  if (!file) {
    complain(strerror(errno), path);
    return NULL;
  }
  const char *wrong = read_header(t, file);
  if (!wrong && !(data = aligned(bytes_of(t))))
    wrong = "out of memory";
  if (!wrong &&
      fread(data, 1, (size_t)bytes_of(t), file) != (size_t)bytes_of(t))
    wrong = "it is too short";
  fclose(file);
  if (!wrong)
    return data;
  complain(wrong, path);
  free(data);
  return NULL;
}

static int write_npy(const struct tessera_tensor *t, const char *path,
                     const void *data) {
  char header[1100];
  header_of(t, header, sizeof header - 80);
  size_t length = strlen(header), total = (10 + length + 1 + 63) / 64 * 64;
  memset(header + length, ' ', total - 10 - length);
  header[total - 11] = '\n';
  unsigned char start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  start[8] = (unsigned char)((total - 10) & 255);
  start[9] = (unsigned char)((total - 10) >> 8);
  FILE *file = fopen(path, "wb");
  if (!file)
    return complain(strerror(errno), path);
  int ok = fwrite(start, 1, 10, file) == 10 &&
           fwrite(header, 1, total - 10, file) == total - 10 &&
           fwrite(data, 1, (size_t)bytes_of(t), file) == (size_t)bytes_of(t);
  if (fclose(file) != 0 || !ok) {
    remove(path);
    return complain("it could not be written", path);
  }
  return 0;
}

/* The file that the command line gives for a tensor, or null. */
static const char *file_of(const struct tessera_tensor *t, int argc,
                           char **argv) {
  size_t length = strlen(t->name);
  for (int i = 1; i < argc; ++i)
    if (strncmp(argv[i], t->name, length) == 0 && argv[i][length] == '=')
      return argv[i] + length + 1;
  return NULL;
}

static int check_arguments(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    int known = 0;
    for (int64_t k = 0; k < program->count; ++k) {
      size_t length = strlen(program->tensors[k].name);
      known |= strncmp(argv[i], program->tensors[k].name, length) == 0 &&
               argv[i][length] == '=';
    }
    if (!known) {
      complain("it is not NAME=FILE.npy for a tensor of the program", argv[i]);
      usage(stderr);
      return 2;
    }
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "--help") == 0) {
    usage(stdout);
    return 0;
  }
  int wrong = check_arguments(argc, argv);
  if (wrong)
    return wrong;
  void **buffers = calloc((size_t)program->count + 1, sizeof *buffers);
  dims = calloc((size_t)program->symbol_count + 1, sizeof *dims);
  if (!buffers || !dims)
    return complain("out of memory", "the tensors");
  for (int64_t s = 0; s < program->symbol_count; ++s)
    dims[s] = -1;
  for (int64_t i = 0; i < program->count; ++i) {
    const struct tessera_tensor *t = &program->tensors[i];
    const char *path = file_of(t, argc, argv);
    if (!(t->use & kRead))
      continue;
    if (!path) {
      complain("it is read, but no file is given for it", t->name);
      usage(stderr);
      return 2;
    }
    if (!(buffers[i] = read_npy(t, path)))
      return 1;
  }
  for (int64_t i = 0; i < program->count; ++i)
    if (!buffers[i] && !(buffers[i] = aligned(bytes_of(&program->tensors[i]))))
      return complain("out of memory", program->tensors[i].name);
  void *arena =
      aligned(program->symbol_count > 0 ? program->arena_bytes_for(dims)
                                        : program->arena_bytes);
  if (!arena)
    return complain("out of memory", "the arena");
  int code = program->run(buffers, dims, arena, NULL);
  if (code != 0) {
    fprintf(stderr, "%s: error: code %d%s\n", program->name, code & 255,
            (code & 255) == 5 ? ": this CPU lacks instructions of the program"
                              : "");
    return 1;
  }
  for (int64_t i = 0; i < program->count; ++i) {
    const struct tessera_tensor *t = &program->tensors[i];
    const char *path = file_of(t, argc, argv);
    if ((t->use & kWritten) && path && write_npy(t, path, buffers[i]))
      return 1;
  }
  return 0;
}
