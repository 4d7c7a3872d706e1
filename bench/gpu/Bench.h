// The parts of tessera-gpu-bench.
#pragma once

#include <tessera/tessera.h>

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

/// One training step of the digits' perceptron on a batch: loss, gradients,
/// Adam.
class TrainingStep {
public:
  /// On the default device.
  TrainingStep();
  Tensor operator()() { return step(x, y); }
  /// Losses, then weights.
  std::vector<float> train(int steps);

private:
  struct Mlp : nn::Module {
    nn::Linear a{64, 256}, b{256, 256}, c{256, 10};
    Tensor operator()(const Tensor &x) { return c(relu(b(relu(a(x))))); }
    TESSERA_TREE(Mlp, a, b, c)
  };
  Mlp model;
  optim::Adam adam{{.lr = 1e-3f}};
  Tensor x, y;
  std::function<Tensor(Tensor, Tensor)> step;
};

} // namespace tessera::bench
