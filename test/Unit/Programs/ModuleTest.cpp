// Modules and optimisers: names, gradients, updates, and equal bits in every
// way of training.
#include <gtest/gtest.h>
#include <tessera/tessera.h>

using namespace tessera;

namespace {
struct Mlp : nn::Module {
  nn::Linear a{3, 7}, b{7, 4};
  Tensor operator()(const Tensor &x) { return b(relu(a(x))); }
  TESSERA_TREE(Mlp, a, b)
};

struct One : nn::Module {
  Variable w{tensor({1.f, -2.f})};
  TESSERA_TREE(One, w)
};

std::vector<float> flat(const nn::TensorMap &map) {
  std::vector<float> all;
  for (auto &[name, tensor] : map)
    for (float value : tensor.to_vector<float>())
      all.push_back(value);
  return all;
}

/// The parameters after some steps.
template <typename Optimizer, typename Options>
std::vector<float> train(Options options, bool compiled) {
  random::seed(3);
  Mlp model;
  Optimizer optimizer(options);
  auto step = [&](Tensor x, Tensor y) {
    auto [loss, grads] =
        value_and_grad([&](Mlp &m) { return cross_entropy(m(x), y); })(model);
    optimizer.step(model, grads);
    return loss;
  };
  auto jitted = jit(step);
  Tensor x = random::normal(random::key(5), {8, 3}).eval();
  Tensor y = tensor({0, 1, 2, 3, 0, 1, 2, 3}, i32);
  for (int i = 0; i < 5; ++i) {
    if (compiled)
      jitted(x, y);
    else
      eval(std::tuple(step(x, y), model.state_dict(), optimizer.state_dict()));
  }
  return flat(model.state_dict());
}
} // namespace

TEST(ModuleTest, parametersHaveNames) {
  Mlp model;
  std::vector<std::string> names;
  for (auto &[name, tensor] : model.named_parameters())
    names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"a.bias", "a.weight", "b.bias",
                                             "b.weight"}));
  EXPECT_EQ(model.a.weight.shape(), (Shape{7, 3}));
}

TEST(ModuleTest, stateIsLoadedStrictly) {
  Mlp one, two;
  two.load_state_dict(one.state_dict());
  EXPECT_EQ(flat(one.state_dict()), flat(two.state_dict()));
  auto state = one.state_dict();
  state.erase("a.bias");
  EXPECT_THROW(two.load_state_dict(state), ValueError);
  state["a.bias"] = tensor({1.f});
  EXPECT_THROW(two.load_state_dict(state), ShapeError);
}

TEST(ModuleTest, trainingIsPassedOn) {
  Mlp model;
  model.eval();
  EXPECT_FALSE(model.b.is_training());
}

TEST(OptimTest, stepByStepAndCompiledGiveTheSameBits) {
  EXPECT_EQ(train<optim::Adam>(optim::AdamOptions{.lr = 1e-2f}, true),
            train<optim::Adam>(optim::AdamOptions{.lr = 1e-2f}, false));
  EXPECT_EQ(train<optim::AdamW>(
                optim::AdamOptions{.lr = 1e-2f, .weight_decay = 0.1f}, true),
            train<optim::AdamW>(
                optim::AdamOptions{.lr = 1e-2f, .weight_decay = 0.1f}, false));
  EXPECT_EQ(
      train<optim::SGD>(optim::SgdOptions{.lr = 0.1f, .momentum = 0.9f}, true),
      train<optim::SGD>(optim::SgdOptions{.lr = 0.1f, .momentum = 0.9f},
                        false));
}

TEST(OptimTest, adamsFirstStepIsTheRate) {
  One model;
  optim::Adam adam({.lr = 0.5f});
  adam.step(model, {{"w", tensor({3.f, -7.f})}});
  auto w = model.w.to_vector<float>();
  EXPECT_NEAR(w[0], 0.5f, 1e-5);
  EXPECT_NEAR(w[1], -1.5f, 1e-5);
  EXPECT_THROW(adam.step(model, {{"v", tensor({3.f})}}), ValueError);
}
