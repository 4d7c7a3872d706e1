// Programs in files for every batch size, against the function itself.
#include "test/Unit/Export/Support.h"

#include <cmath>

namespace tessera {
namespace {

class SymbolicExportTest : public ExportTest {
protected:
  /// Exports f for any batch of rows, loads it, and compares it at several.
  template <typename F> Program compare(F f) {
    export_program(path(), {.arguments = {"x"}, .symbolic = true}, f,
                   zeros({5, 8}));
    Program program = load_program(path());
    auto fixed = jit(f);
    for (int64_t batch : {4, 1, 0, 3, 17, 600, 1030}) {
      Tensor x = numbers({batch, 8});
      Tensor actual = program(x), expected = fixed(x);
      if (batch == 0 && expected.shape().elements() > 0)
        EXPECT_TRUE(std::isnan(sum(actual * expected).item<float>()));
      else
        EXPECT_TRUE(sameBits(actual, expected)) << "batch " << batch;
    }
    return program;
  }
};

struct Mlp : nn::Module {
  nn::Linear a{8, 13}, b{13, 5};
  TESSERA_TREE(Mlp, a, b)
  Tensor operator()(Tensor x) { return b(relu(a(x))); }
};

} // namespace

TEST_F(SymbolicExportTest, rowsColumnsAndProducts) {
  Tensor w = numbers({8, 3});
  compare([](Tensor x) { return softmax(x * 2.f, -1); });
  compare([&](Tensor x) { return tanh(matmul(x, w)); });
  Program program = compare([](Tensor x) { return mean(x, 0); });
  EXPECT_EQ(program.arguments()[0].shape, Shape({-1, 8}));
  EXPECT_EQ(program.results()[0].shape, Shape({8}));
  expectIn("tensor<?x8xf32>", read(path()));
  expectIn("tessera.symbols = [\"batch\", \"\"]", read(path()));
}

TEST_F(SymbolicExportTest, trainingStepKeepsItsState) {
  random::seed(1);
  Mlp model;
  optim::Adam adam({.lr = 1e-2f});
  auto step = [&](Tensor x, Tensor y) {
    auto [loss, grads] =
        value_and_grad([&](Mlp &m) { return cross_entropy(m(x), y); })(model);
    adam.step(model, grads);
    return loss;
  };
  export_program(path(), {.symbolic = true}, step, zeros({6, 8}),
                 zeros({6}, i64));
  Program program = load_program(path());
  auto compiled = jit(step);
  for (int64_t batch : {4, 1, 3, 17, 600, 33}) {
    Tensor x = numbers({batch, 8}), y = (arange(batch) % 5).eval();
    EXPECT_TRUE(sameBits(Tensor(program(x, y)), compiled(x, y)))
        << "batch " << batch;
  }
}

TEST_F(SymbolicExportTest, interpretedToo) {
  export_program(
      path(), {.symbolic = true},
      [](Tensor x) { return concat({x, x}, 0) + 1.f; }, zeros({5, 2}));
  Program compiled = load_program(path());
  set_default_device(Device("reference"));
  Program interpreted = load_program(path());
  for (int64_t batch : {3, 0, 7, 7}) {
    set_default_device(Device("cpu"));
    Tensor x = numbers({batch, 2});
    Tensor expected = compiled(x);
    set_default_device(Device("reference"));
    Tensor actual = interpreted(x);
    EXPECT_EQ(actual.shape(), Shape({2 * batch, 2}));
    EXPECT_EQ(actual.to_vector<float>(), expected.to_vector<float>());
  }
}

TEST_F(SymbolicExportTest, sizesThatDoNotFit) {
  export_program(
      path(), {.arguments = {"x", "y"}, .symbolic = true},
      [](Tensor x, Tensor y) { return (x + y).index(slice(3)); }, zeros({5, 2}),
      zeros({5, 2}));
  Program program = load_program(path());
  expectIn("batch is 2, and must be at least 3",
           errorOf<ShapeError>([&] { program(ones({2, 2}), ones({2, 2})); }));
  expectIn("both are the symbol batch",
           errorOf<ShapeError>([&] { program(ones({4, 2}), ones({5, 2})); }));
  expectIn("f32[4,3] is given for f32[?,2]",
           errorOf<ShapeError>([&] { program(ones({4, 3}), ones({4, 2})); }));
  expectIn("[4] is given for f32[?,2]",
           errorOf<ShapeError>([&] { program(ones({4}), ones({4, 2})); }));
  set_default_device(Device("reference"));
  Program interpreted = load_program(path());
  expectIn("y is of a size that does not fit batch", errorOf<ShapeError>([&] {
             interpreted(ones({4, 2}), ones({5, 2}));
           }));
  EXPECT_THROW(interpreted(ones({2, 2}), ones({2, 2})), ShapeError);
}

TEST_F(SymbolicExportTest, functionsThatCannotBe) {
  ExportOptions any{.symbolic = true};
  expectIn("depends on the batch size", errorOf<TraceError>([&] {
             export_program(
                 path(), any,
                 [](Tensor x) { return x * (1.f / float(x.shape()[0])); },
                 zeros({4, 8}));
           }));
  expectIn("batch", errorOf<TraceError>([&] {
             export_program(
                 path(), any,
                 [](Tensor x) {
                   Tensor y = x;
                   for (int64_t i = 0; i < x.shape()[0]; ++i)
                     y = y * y;
                   return y;
                 },
                 zeros({4, 8}));
           }));
  expectIn("no argument is a tensor of a dimension", errorOf<ValueError>([&] {
             export_program(path(), any, [](Tensor x) { return x + 1.f; }, 2.f);
           }));
  Variable v = numbers({4});
  expectIn("another type, which a program cannot: f32[4] and f32[?]",
           errorOf<ValueError>([&] {
             export_program(
                 path(), any,
                 [&](Tensor x) {
                   v = x;
                   return x;
                 },
                 zeros({4}));
           }));
  EXPECT_FALSE(std::filesystem::exists(path()));
}

} // namespace tessera
