// Programs of every kind of kernel, whose bits on a GPU must be those of the
// CPU.
#include "bench/gpu/Bench.h"

#include <cmath>
#include <cstring>

namespace tessera::bench {

namespace {

struct Program {
  const char *name;
  Tensor (*compute)(const Tensor &x);
  /// By how much an element may differ, as a fraction of it: products on tensor
  /// cores add in an order that is the hardware's.
  double tolerance = 0;
};

Tensor first(const Tensor &x, int64_t rows) { return x.index(slice(0, rows)); }

// Of x: f32[96,130], standard normal.
constexpr Program kPrograms[] = {
    {"arithmetic", [](const Tensor &x) { return (x * x + 1.f) / (x - 3.f); }},
    {"exp, log", [](const Tensor &x) { return log(exp(x) + 1.f); }},
    {"sin, cos, tanh",
     [](const Tensor &x) { return sin(x * 9.f) + cos(x) * tanh(x); }},
    {"sqrt, pow", [](const Tensor &x) { return sqrt(abs(x)) + pow(x, 3); }},
    {"broadcasts", [](const Tensor &x) { return x + first(x, 1) * 2.f; }},
    {"transpose", [](const Tensor &x) { return x.T() * 2.f; }},
    {"slices", [](const Tensor &x) { return x.index(slice(3, 77)) + 1.f; }},
    {"sum", [](const Tensor &x) { return sum(x); }},
    {"row sums", [](const Tensor &x) { return sum(x, {1}); }},
    {"column sums", [](const Tensor &x) { return sum(x * x, {0}); }},
    {"row maxima", [](const Tensor &x) { return max(x, {1}); }},
    {"softmax", [](const Tensor &x) { return softmax(x, -1); }},
    {"normalised rows",
     [](const Tensor &x) {
       Tensor centred = x - mean(x, {1}, true);
       return centred / sqrt(mean(square(centred), {1}, true) + 1e-5f);
     }},
    {"product, f32", [](const Tensor &x) { return matmul(x, x.T()); }},
    {"product, f16",
     [](const Tensor &x) { return matmul(x.astype(f16), x.T().astype(f16)); },
     0x1p-9},
    {"product, bf16",
     [](const Tensor &x) {
       return relu(matmul(x.astype(bf16), x.T().astype(bf16)));
     },
     0x1p-6},
    {"random numbers",
     [](const Tensor &x) {
       return random::uniform(random::key(11), x.shape()) + x;
     }},
    {"integers",
     [](const Tensor &x) { return (x * 100.f).astype(i32) / 7 + 3; }},
};

/// How far two results are apart where they may be.
std::string distanceOf(const Program &program, const Tensor &expected,
                       const Tensor &actual) {
  std::vector<double> a = expected.to_vector<double>(),
                      b = actual.to_vector<double>();
  constexpr double kOfSmallSums = 1e-4;
  size_t wrong = a.size() != b.size();
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    wrong += !(std::abs(a[i] - b[i]) <=
               program.tolerance * std::abs(a[i]) + kOfSmallSums);
  return wrong == 0 ? ""
                    : std::string(program.name) + ": " + std::to_string(wrong) +
                          " elements are too far away";
}

std::string differenceOf(const std::string &name, const Tensor &expected,
                         const Tensor &actual) {
  auto a = expected.bytes(), b = actual.bytes();
  if (a.size() != b.size())
    return name + ": " + std::to_string(b.size()) + " bytes, not " +
           std::to_string(a.size());
  size_t element = a.size() / size_t(std::max<int64_t>(1, expected.size()));
  size_t wrong = 0, at = 0;
  for (size_t i = 0; i < a.size(); i += element)
    if (std::memcmp(a.data() + i, b.data() + i, element) != 0 && wrong++ == 0)
      at = i / element;
  if (wrong == 0)
    return "";
  return name + ": " + std::to_string(wrong) + " of " +
         std::to_string(expected.size()) + " elements differ, the first is " +
         std::to_string(at);
}

} // namespace

Comparison compareWithCpu(const Device &device) {
  Comparison result;
  auto note = [&](const std::string &difference) {
    ++result.programs;
    if (!difference.empty())
      result.differences.push_back(difference);
  };
  set_default_device(Device());
  Tensor x = random::normal(random::key(1), {96, 130}).eval();
  for (const Program &program : kPrograms) {
    set_default_device(Device());
    Tensor expected = program.compute(x).eval();
    set_default_device(device);
    try {
      Tensor actual = program.compute(x.to(device));
      note(program.tolerance > 0
               ? distanceOf(program, expected, actual)
               : differenceOf(program.name, expected, actual));
    } catch (const Error &error) {
      note(std::string(program.name) + ": " + error.what());
    }
  }
  set_default_device(Device());
  std::vector<float> expected = TrainingStep().train(3);
  set_default_device(device);
  note(TrainingStep().train(3) == expected
           ? ""
           : "training: losses or weights differ");
  return result;
}

} // namespace tessera::bench
