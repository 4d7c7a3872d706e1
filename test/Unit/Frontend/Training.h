// A short training, whose bits tests compare between devices.
#pragma once

#include "test/Unit/Frontend/Support.h"

namespace tessera {

struct TrainedMlp : nn::Module {
  nn::Linear a{17, 33}, b{33, 5};
  Tensor operator()(Tensor x) { return b(tanh(a(x))); }
  TESSERA_TREE(TrainedMlp, a, b)
};

/// Trains on a device, and gives the losses and the weights.
inline std::vector<float> train(const Device &device, bool compiled) {
  set_default_device(device);
  random::seed(3);
  Tensor x = random::normal(random::key(5), {12, 17}), y = arange(12) % 5;
  TrainedMlp model;
  optim::Adam adam({.lr = 1e-2f});
  auto step = [&](Tensor x, Tensor y) {
    auto [loss, grads] = value_and_grad(
        [&](TrainedMlp &m) { return cross_entropy(m(x), y); })(model);
    adam.step(model, grads);
    return loss;
  };
  auto program = jit(step);
  std::vector<float> values;
  for (int i = 0; i < 4; ++i)
    values.push_back((compiled ? program(x, y) : step(x, y)).item<float>());
  for (auto &[name, weight] : model.state_dict())
    for (float value : weight.to_vector<float>())
      values.push_back(value);
  EXPECT_EQ(model.state_dict().begin()->second.device(), device);
  return values;
}

} // namespace tessera
