// The names in exported programs.
#include "test/Unit/Export/Support.h"

namespace tessera {
namespace {

using NamesTest = ExportTest;

struct Mlp : nn::Module {
  nn::Linear a{3, 4}, b{4, 2};
  Tensor operator()(const Tensor &x) { return b(relu(a(x))); }
  TESSERA_TREE(Mlp, a, b)
};

Names stateOf(const Program &program) {
  Names names;
  for (auto &[name, value] : program.state())
    names.push_back(name);
  return names;
}

const Names kPaths{"a.bias", "a.weight", "b.bias", "b.weight"};

} // namespace

TEST_F(NamesTest, byPosition) {
  export_program(
      path(), [](Tensor x, int, Tensor y) { return std::vector{x, x + y, y}; },
      zeros({2}), 5, zeros({2}));
  Program program = load_program(path());
  EXPECT_EQ(namesOf(program.arguments()), (Names{"x0", "x2"}));
  EXPECT_EQ(namesOf(program.results()), (Names{"y0", "y1", "y2"}));
}

TEST_F(NamesTest, given) {
  export_program(
      path(),
      ExportOptions{.arguments = {"image", "", "pair"},
                    .results = {"", "both"}},
      [](Tensor x, Tensor y, std::array<Tensor, 2> z) {
        return std::pair(x + y, std::tuple(z[0] + x, z[1]));
      },
      zeros({2}), zeros({2}), std::array<Tensor, 2>{zeros({2}), zeros({2})});
  Program program = load_program(path());
  EXPECT_EQ(namesOf(program.arguments()),
            (Names{"image", "x1", "pair_0", "pair_1"}));
  EXPECT_EQ(namesOf(program.results()), (Names{"y0", "both_0", "both_1"}));
  export_program(
      path(), ExportOptions{.results = {"logits"}},
      [](Tensor x) { return x + 1.f; }, zeros({2}));
  program = load_program(path());
  EXPECT_EQ(namesOf(program.results()), Names{"logits"});
}

TEST_F(NamesTest, givenOnesComeFirst) {
  export_program(
      path(), ExportOptions{.arguments = {"", "x0"}, .results = {"", "y0"}},
      [](Tensor x, Tensor y) { return std::pair(x + y, x - y); }, zeros({2}),
      zeros({2}));
  Program program = load_program(path());
  EXPECT_EQ(namesOf(program.arguments()), (Names{"x0_2", "x0"}));
  EXPECT_EQ(namesOf(program.results()), (Names{"y0_2", "y0"}));
}

TEST_F(NamesTest, collisionsAreNumbered) {
  std::map<std::string, Tensor> map{
      {"a b", zeros({2})}, {"a-b", zeros({2})}, {"a.b", zeros({2})}};
  export_program(
      path(),
      [](std::map<std::string, Tensor> m) {
        return m.at("a b") + m.at("a-b") + m.at("a.b");
      },
      map);
  EXPECT_EQ(namesOf(load_program(path()).arguments()),
            (Names{"x0.a_b", "x0.a_b_2", "x0.a.b_3"}));
}

TEST_F(NamesTest, longOnesAreCut) {
  std::map<std::string, Tensor> map{{std::string(400, 'a'), zeros({2})},
                                    {std::string(401, 'a'), zeros({2})}};
  export_program(
      path(),
      [](std::map<std::string, Tensor> m) {
        return m.begin()->second + m.rbegin()->second;
      },
      map);
  EXPECT_EQ(load_program(path()).arguments()[1].name,
            "x0." + std::string(237, 'a') + "_2");
}

TEST_F(NamesTest, wrongOnes) {
  auto f = [](Tensor x, Tensor y) { return x + y; };
  auto text = [&](ExportOptions options) {
    return errorOf<ValueError>(
        [&] { export_program(path(), options, f, zeros({2}), zeros({2})); });
  };
  expectIn("two arguments are named \"a_b\"",
           text({.arguments = {"a.b", "a_b"}}));
  // What the reader refuses, the writer does not write, and in the same words.
  for (const char *name : {".x", "a b", "\xc3\xa9"})
    expectIn("is no name for arguments: it must be letters, digits, '_' and "
             "'.', beginning with a letter or '_'",
             text({.arguments = {name}}));
  expectIn("\"0x\" is no name for arguments", text({.arguments = {"0x"}}));
  expectIn("\"é\" is no name", text({.results = {"é"}}));
  expectIn("names for 3 arguments, but the function has 2",
           text({.arguments = {"a", "b", "c"}}));
  expectIn("names for 2 results, but the function has 1",
           text({.results = {"a", "b"}}));
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(NamesTest, aModuleIsTheFunction) {
  export_program(path(), Mlp(), zeros({5, 3}));
  EXPECT_EQ(stateOf(load_program(path())), kPaths);
}

TEST_F(NamesTest, aModuleIsAnArgument) {
  Mlp model;
  auto f = [](Mlp &model, Tensor x) { return model(x); };
  export_program(path(), f, model, zeros({5, 3}));
  EXPECT_EQ(stateOf(load_program(path())), kPaths);
  export_program(path(), ExportOptions{.arguments = {"net"}}, f, model,
                 zeros({5, 3}));
  EXPECT_EQ(
      stateOf(load_program(path())),
      (Names{"net.a.bias", "net.a.weight", "net.b.bias", "net.b.weight"}));
}

TEST_F(NamesTest, aModuleThatIsOnlyCalled) {
  Mlp model;
  auto f = [&](Tensor x) { return model(x); };
  export_program(path(), f, zeros({5, 3}));
  EXPECT_EQ(stateOf(load_program(path())),
            (Names{"bias", "bias_2", "weight", "weight_2"}));
  model.state_dict(); // visits it
  export_program(path(), f, zeros({5, 3}));
  EXPECT_EQ(stateOf(load_program(path())), kPaths);
}

TEST_F(NamesTest, optimisersNameTheirState) {
  Mlp model;
  optim::Adam adam;
  auto step = [&](Tensor x) {
    auto [loss, grads] =
        value_and_grad([&](Mlp &m) { return mean(square(m(x))); })(model);
    adam.step(model, grads);
    return loss;
  };
  export_program(path(), step, zeros({5, 3}));
  Program program = load_program(path());
  Names expected{
      "a.bias", "a.bias.m", "a.bias.v", "a.weight", "a.weight.m", "a.weight.v",
      "b.bias", "b.bias.m", "b.bias.v", "b.weight", "b.weight.m", "b.weight.v",
      "beta1",  "beta2",    "eps",      "lr",       "steps"};
  EXPECT_EQ(stateOf(program), expected);
  // The names of state_dict(): what they hold can be exchanged.
  program.load_state(adam.state_dict(), /*strict=*/false);
  program.load_state(model.state_dict(), /*strict=*/false);
  EXPECT_EQ(namesOf(program.results()), Names{"y"});
}

TEST_F(NamesTest, otherVariablesAreNumbered) {
  Variable u = zeros({2}), v = ones({2});
  export_program(path(), [&](Tensor x) { return x + v - u; }, zeros({2}));
  Program program = load_program(path());
  EXPECT_EQ(stateOf(program), (Names{"variable0", "variable1"}));
  EXPECT_EQ(program.state().at("variable0").to_vector<float>()[0], 1);
  export_program(
      path(), [](Variable &v, Tensor x) { v = v + x; }, u, zeros({2}));
  EXPECT_EQ(stateOf(load_program(path())), Names{"x0"});
}

TEST_F(NamesTest, resultsAndUpdatesDiffer) {
  Mlp model;
  model.state_dict();
  export_program(
      path(), ExportOptions{.results = {"a.bias"}},
      [&](Tensor x) {
        model.a.bias = model.a.bias * 2.f;
        return model(x);
      },
      zeros({5, 3}));
  Program program = load_program(path());
  EXPECT_EQ(namesOf(program.results()), Names{"a.bias"});
  expectIn("tessera.name = \"a.bias_2\", tessera.updates", read(path()));
}

} // namespace tessera
