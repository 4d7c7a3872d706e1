// Compiles the text of a kernel for the emulator and launches it on vectors.
#pragma once
#include "runtime/sim/Launch.h"
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace tessera::test {

using runtime::sim::Checks;
using runtime::sim::Dim3;
using runtime::sim::LaunchConfig;
using runtime::sim::LaunchResult;

struct Compiled {
  std::shared_ptr<void> code;
  const tessera_sim_kernel *kernel = nullptr;
  std::string error;
};

enum class Reports { None, Checks, Counters, Both };

/// Compiles the kernel @k of a module; ops without a place of their own are at
/// k.mlir and their line in `text`.
Compiled compile(const std::string &text, Reports reports = Reports::Checks);

/// One argument of a kernel: a vector is a buffer, anything else a number.
class Args {
public:
  template <typename... T> explicit Args(T &...args) { (add(args), ...); }

  LaunchResult launch(const tessera_sim_kernel &kernel,
                      const LaunchConfig &config) const {
    std::vector<void *> values;
    for (const auto &slot : slots)
      values.push_back(const_cast<void **>(&slot));
    for (size_t i = 0; i < numbers.size(); ++i)
      if (numbers[i])
        values[i] = const_cast<void *>(numbers[i]);
    return runtime::sim::launch(kernel, config, values.data(), extents);
  }

private:
  template <typename T> void add(std::vector<T> &buffer) {
    slots.push_back(buffer.data());
    numbers.push_back(nullptr);
    extents.push_back(
        {buffer.data(), buffer.size() * sizeof(T), !std::is_const_v<T>});
  }
  template <typename T> void add(T &number) {
    slots.push_back(nullptr);
    numbers.push_back(&number);
  }

  std::vector<void *> slots;
  std::vector<const void *> numbers;
  std::vector<runtime::sim::Extent> extents;
};

/// Compiles and launches with all checks, unless the config says otherwise.
template <typename... T>
LaunchResult run(const std::string &text, LaunchConfig config, T &...args) {
  Compiled compiled = compile(text);
  if (!compiled.kernel) {
    LaunchResult result;
    result.error = compiled.error;
    return result;
  }
  return Args(args...).launch(*compiled.kernel, config);
}

/// One block, or `blocks`, of `threads`; all checks.
inline LaunchConfig blockOf(uint32_t threads, uint32_t blocks = 1) {
  LaunchConfig config;
  config.grid.x = blocks;
  config.block.x = threads;
  config.checks = Checks::all();
  return config;
}

/// A kernel @k(%in, %out) of i32 buffers that loads %x = in[%tid], executes
/// `body` and stores %y at out[%tid]. %tid counts the threads of a block.
std::string elementwise(const std::string &body,
                        const std::string &globals = "");

} // namespace tessera::test
