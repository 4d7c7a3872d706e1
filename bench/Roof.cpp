// Prints what this machine can do at most, as one JSON object: roof [THREADS].
// Sizes are those of one array, rates those of all threads together.
#include "runtime/Roof.h"

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

using namespace tessera::runtime;

int main(int argc, char **argv) {
  int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  if (threads < 1 || threads > 1024) {
    std::fprintf(stderr, "usage: roof [THREADS]\n");
    return 2;
  }
  std::printf("{\n  \"threads\": %d,\n  \"isa\": \"%s\",\n  "
              "\"fma_gflops\": %.1f,\n  \"bandwidth\": [",
              threads, roofIsa(), fmaGflops(threads));
  const char *separator = "";
  for (size_t kib : {16, 64, 256, 1024, 4096, 16384, 65536}) {
    Bandwidth rates = bandwidth(threads, kib * 1024);
    std::printf("%s\n    {\"kib\": %zu, \"copy_gbs\": %.1f, "
                "\"stream_gbs\": %.1f, \"read_gbs\": %.1f}",
                separator, kib, rates.copy, rates.stream, rates.read);
    separator = ",";
  }
  std::printf("\n  ]\n}\n");
  return 0;
}
