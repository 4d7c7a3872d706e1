// Reading of the digits.
#include "examples/digits/Dataset.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace digits {

constexpr size_t kPixels = 64;

Dataset Dataset::slice(size_t begin, size_t end) const {
  return {{pixels.begin() + ptrdiff_t(begin * kPixels),
           pixels.begin() + ptrdiff_t(end * kPixels)},
          {labels.begin() + ptrdiff_t(begin), labels.begin() + ptrdiff_t(end)}};
}

Dataset Dataset::pick(const std::vector<size_t> &indices) const {
  Dataset chosen;
  for (size_t i : indices) {
    auto image = pixels.begin() + ptrdiff_t(i * kPixels);
    chosen.pixels.insert(chosen.pixels.end(), image, image + kPixels);
    chosen.labels.push_back(labels[i]);
  }
  return chosen;
}

Dataset readDigits(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    throw std::runtime_error(path + ": cannot be opened");
  Dataset data;
  std::string line;
  for (size_t number = 1; std::getline(file, line); ++number) {
    std::istringstream fields(line);
    std::string field;
    std::vector<int> values;
    while (std::getline(fields, field, ','))
      values.push_back(std::atoi(field.c_str()));
    if (values.size() != kPixels + 1 || values.back() < 0 || values.back() > 9)
      throw std::runtime_error(path + ":" + std::to_string(number) +
                               ": not 64 pixels and a label");
    for (size_t i = 0; i < kPixels; ++i)
      data.pixels.push_back(float(values[i]) / 16);
    data.labels.push_back(values.back());
  }
  return data;
}

} // namespace digits
