// The training step that the benchmarks time.
#pragma once
#include <tessera/tessera.h>

#include <functional>
#include <vector>

namespace tessera::bench {

/// The digits' perceptron.
struct Mlp : nn::Module {
  nn::Linear a{64, 256}, b{256, 256}, c{256, 10};
  Tensor operator()(const Tensor &x) { return c(relu(b(relu(a(x))))); }
  TESSERA_TREE(Mlp, a, b, c)
};

/// A step of the perceptron on one batch: loss, gradients, Adam. Weights and
/// batch are the same each time, and on the default device.
class TrainingStep {
public:
  explicit TrainingStep(JitOptions options = {}) {
    random::seed(1);
    model = Mlp();
    x = random::normal(random::key(2), {128, 64}).eval();
    y = random::randint(random::key(3), {128}, 0, 10).eval();
    step = jit(
        [this](Tensor x, Tensor y) {
          auto [loss, grads] = value_and_grad(
              [&](Mlp &m) { return cross_entropy(m(x), y); })(model);
          adam.step(model, grads);
          return loss;
        },
        options);
  }
  Tensor operator()() { return step(x, y); }

  /// Losses, then weights.
  std::vector<float> train(int steps) {
    std::vector<float> values;
    for (int i = 0; i < steps; ++i)
      values.push_back((*this)().item<float>());
    for (auto &[name, weight] : model.state_dict())
      for (float value : weight.to_vector<float>())
        values.push_back(value);
    return values;
  }

private:
  Mlp model;
  optim::Adam adam{{.lr = 1e-3f}};
  Tensor x, y;
  std::function<Tensor(Tensor, Tensor)> step;
};

} // namespace tessera::bench
