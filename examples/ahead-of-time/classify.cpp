// Classifies images one by one with a model that is part of the program:
// classify FOLDER, which `digits --export` has filled.
#include "digits_classify.h"
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

// The data of an npy file of such a type follow a header of 128 bytes.
template <typename T> static std::vector<T> data_of(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() < 128)
    return {};
  std::vector<T> data((bytes.size() - 128) / sizeof(T));
  std::copy_n(bytes.begin() + 128, data.size() * sizeof(T),
              reinterpret_cast<char *>(data.data()));
  return data;
}

int main(int argc, char **argv) {
  std::string folder = argc == 2 ? argv[1] : ".";
  auto images = data_of<float>(folder + "/images.npy");
  auto labels = data_of<int32_t>(folder + "/labels.npy");
  if (images.empty() || labels.empty()) {
    std::fprintf(stderr, "classify: no images.npy and labels.npy in %s\n",
                 folder.c_str());
    return 1;
  }
  alignas(DIGITS_CLASSIFY_ARENA_ALIGNMENT) static std::byte
      arena[DIGITS_CLASSIFY_ARENA_BYTES];
  size_t count = std::min<size_t>(labels.size(), 1000), right = 0;
  for (size_t i = 0; i < count; ++i) {
    float logits[DIGITS_CLASSIFY_LOGITS_ELEMENTS];
    digits_classify_buffers buffers = {
        &images[i * DIGITS_CLASSIFY_IMAGE_ELEMENTS], logits};
    if (int code = digits_classify(&buffers, arena, nullptr)) {
      std::fprintf(stderr, "classify: %s\n", tessera_error_text(code));
      return 1;
    }
    right += std::max_element(std::begin(logits), std::end(logits)) - logits ==
             labels[i];
  }
  std::printf("%zu of %zu images right\n", right, count);
}
