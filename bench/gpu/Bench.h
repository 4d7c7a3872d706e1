// The parts of tessera-gpu-bench.
#pragma once

#include "bench/Training.h"

#include <string>
#include <vector>

namespace tessera::bench {

/// Computes programs on both devices and compares the bits; those of products
/// on tensor cores may differ by a little. Gives one line for each that
/// differs, and how many there were.
struct Comparison {
  int programs = 0;
  std::vector<std::string> differences;
};
Comparison compareWithCpu(const Device &device);

} // namespace tessera::bench
