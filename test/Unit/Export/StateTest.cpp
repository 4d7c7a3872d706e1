// Loaded programs that keep state: variables, training steps.
#include "examples/digits/Dataset.h"
#include "test/Unit/Export/Support.h"

#include <thread>

namespace tessera {
namespace {

using StateTest = ExportTest;

struct Mlp : nn::Module {
  nn::Linear a{64, 256}, b{256, 256}, c{256, 10};
  Tensor operator()(const Tensor &x) { return c(relu(b(relu(a(x))))); }
  TESSERA_TREE(Mlp, a, b, c)
};

} // namespace

TEST_F(StateTest, isKeptBetweenCalls) {
  Variable total = zeros({3}), count = tensor({0}, i64);
  auto f = [&](Tensor x) {
    total = total * 0.5f + x;
    count = count + 1;
    return total * 2.f;
  };
  export_program(path(), f, zeros({3}));
  Program program = load_program(path()), copy = program;
  auto compiled = jit(f);
  for (int i = 0; i < 5; ++i) {
    Tensor x = numbers({3});
    EXPECT_TRUE(sameBits(Tensor((i % 2 ? program : copy)(x)), compiled(x)));
  }
  EXPECT_TRUE(sameBits(program.state().at("variable0"), total));
  EXPECT_EQ(program.state().at("variable1").item<int64_t>(), 5);
  Program fresh = load_program(path());
  EXPECT_EQ(fresh.state().at("variable1").item<int64_t>(), 0);
}

TEST_F(StateTest, isUpdatedInPlace) {
  Variable v = numbers({5000});
  export_program(path(), [&](Tensor x) { v = v * 0.5f + x; }, zeros({5000}));
  Program program = load_program(path());
  Tensor x = numbers({5000});
  program(x);
  const void *memory = program.state().at("variable0").bytes().data();
  program(x);
  EXPECT_EQ(program.state().at("variable0").bytes().data(), memory);
  // What somebody holds is not overwritten.
  Tensor held = program.state().at("variable0");
  std::vector<float> before = held.to_vector<float>();
  program(x);
  EXPECT_EQ(held.to_vector<float>(), before);
}

TEST_F(StateTest, assignedAndNotRead) {
  Variable last = zeros({3});
  export_program(path(), [&](Tensor x) { last = x * 2.f; }, zeros({3}));
  Program program = load_program(path());
  Tensor x = numbers({3});
  program(x);
  EXPECT_TRUE(sameBits(program.state().at("variable0"), (x * 2.f).eval()));
}

TEST_F(StateTest, variablesWithoutAValueAreLocal) {
  Variable v = zeros({3}), none;
  auto f = [&](Tensor x) -> Variable {
    Variable twice = x * 2.f;
    none = twice + 1.f;
    return v = none * x;
  };
  export_program(path(), f, zeros({3}));
  Program program = load_program(path());
  EXPECT_EQ(program.state().size(), 1u);
  Tensor x = numbers({3});
  EXPECT_TRUE(sameBits(Tensor(program(x)), jit(f)(x)));
  EXPECT_TRUE(sameBits(program.state().at("variable0"), v));
}

TEST_F(StateTest, interpreterKeepsItToo) {
  Variable v = zeros({3});
  export_program(path(), [&](Tensor x) { return v = v + x; }, zeros({3}));
  set_default_device(Device("reference"));
  Program program = load_program(path());
  program(ones({3}));
  auto values = Tensor(program(ones({3}))).to_vector<float>();
  set_default_device(Device("cpu"));
  EXPECT_EQ(values, (std::vector<float>{2, 2, 2}));
  EXPECT_EQ(Tensor(program(ones({3}))).to_vector<float>()[0], 3);
}

TEST_F(StateTest, isSet) {
  Variable v = zeros({3});
  optim::SGD sgd;
  export_program(path(), [&](Tensor x) { return x * v + sgd.lr; }, zeros({3}));
  Program program = load_program(path());
  Tensor x = numbers({3}), w = numbers({3});
  program.load_state({{"variable0", w}, {"lr", 2.f}});
  EXPECT_TRUE(sameBits(Tensor(program(x)), (x * w + 2.f).eval()));
  unsigned line = __LINE__ + 2;
  std::string text = errorOf<ShapeError>(
      [&] { program.load_state({{"lr", 1.f}, {"variable0", zeros({2})}}); });
  expectIn("StateTest.cpp:" + std::to_string(line), text);
  expectIn("f32[2] is given for f32[3]", text);
  EXPECT_EQ(program.state().at("lr").item<float>(), 2);
  expectIn("no value for the variable \"lr\"", errorOf<ValueError>([&] {
             program.load_state({{"variable0", w}});
           }));
  expectIn("no variable \"other\"", errorOf<ValueError>([&] {
             program.load_state({{"variable0", w}, {"lr", 1.f}, {"other", w}});
           }));
  EXPECT_THROW(program.load_state({{"lr", Tensor(1)}}, false), TypeError);
  program.load_state({{"lr", 3.f}, {"other", w}}, /*strict=*/false);
  EXPECT_EQ(program.state().at("lr").item<float>(), 3);
}

TEST_F(StateTest, threadsShareIt) {
  Variable v = zeros({4});
  export_program(path(), [&](Tensor x) { v = v + x; }, zeros({4}));
  Program program = load_program(path());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 50; ++j)
        program(ones({4}));
    });
  for (std::thread &thread : threads)
    thread.join();
  // Of concurrent steps the last counts, but none is torn.
  auto values = program.state().at("variable0").to_vector<float>();
  EXPECT_GE(values[0], 50);
  EXPECT_LE(values[0], 200);
  EXPECT_EQ(values, std::vector<float>(4, values[0]));
}

TEST_F(StateTest, digitsTrainingGivesTheSameBits) {
  digits::Dataset data = digits::readDigits(DIGITS_CSV);
  random::seed(newSeed());
  Mlp model;
  optim::Adam adam({.lr = 1e-3f});
  auto step = [&](Tensor x, Tensor y) {
    auto [loss, grads] =
        value_and_grad([&](Mlp &m) { return cross_entropy(m(x), y); })(model);
    adam.step(model, grads);
    return loss;
  };
  auto batch = [&](size_t i) {
    digits::Dataset part = data.slice(i * 64, i * 64 + 64);
    return std::pair(Tensor::from(part.pixels, {64, 64}),
                     Tensor::from(part.labels, {64}));
  };
  auto [x, y] = batch(0);
  export_program(path("step.mlir"), ExportOptions{.arguments = {"x", "labels"}},
                 step, x, y);
  Program program = load_program(path("step.mlir"));
  EXPECT_EQ(program.arguments().size(), 2u);
  auto compiled = jit(step);
  for (size_t i = 0; i < 20; ++i) {
    auto [x, y] = batch(i);
    ASSERT_TRUE(sameBits(Tensor(program(x, y)), compiled(x, y))) << i;
  }
  nn::TensorMap state = program.state(), expected = model.state_dict();
  expected.merge(adam.state_dict());
  ASSERT_EQ(expected.size(), 6u * 3 + 1);
  for (auto &[name, value] : expected)
    EXPECT_TRUE(sameBits(state.at(name), value)) << name;
  // A learning rate is state, and not compiled in.
  program.load_state({{"lr", 0.f}}, /*strict=*/false);
  program(x, y);
  EXPECT_TRUE(sameBits(program.state().at("a.weight"), model.a.weight));
}

} // namespace tessera
