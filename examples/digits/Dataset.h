// The handwritten digits as arrays.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace digits {

/// Images of 8x8 pixels, each from 0 to 1, and their labels.
struct Dataset {
  std::vector<float> pixels;
  std::vector<int32_t> labels;

  size_t size() const { return labels.size(); }
  /// The images [begin, end).
  Dataset slice(size_t begin, size_t end) const;
  /// The images at `indices`.
  Dataset pick(const std::vector<size_t> &indices) const;
};

/// Reads a CSV file with 64 pixels from 0 to 16 and a label on each line.
/// Throws std::runtime_error that names the file and the line.
Dataset readDigits(const std::string &path);

} // namespace digits
