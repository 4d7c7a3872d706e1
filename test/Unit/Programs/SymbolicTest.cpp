// One compiled program for every batch size, against programs of each size.
#include <gtest/gtest.h>
#include <tessera/tessera.h>

#include <cstring>
#include <functional>

using namespace tessera;

namespace tessera::detail {
size_t compileCount(); // frontend/Program.h, which needs LLVM's headers
}

namespace {

constexpr int64_t kBatches[] = {4, 1, 0, 3, 17, 600, 1030};

struct Mlp : nn::Module {
  nn::Linear a{8, 13}, b{13, 5};
  TESSERA_TREE(Mlp, a, b)
  Tensor operator()(Tensor x) { return b(relu(a(x))); }
};

Tensor images(int64_t batch) {
  return random::normal(random::key(uint64_t(batch)), {batch, 8}).eval();
}

Tensor labels(int64_t batch) { return (arange(batch) % 5).eval(); }

/// Compares f at every batch size, for one compilation.
template <typename F> void compare(F f) {
  auto symbolic = jit(f, {.symbolic = true});
  auto fixed = jit(f);
  size_t compiled = 0;
  for (int64_t batch : kBatches) {
    Tensor x = images(batch);
    size_t before = detail::compileCount();
    Tensor actual = symbolic(x);
    compiled += detail::compileCount() - before;
    Tensor expected = fixed(x);
    EXPECT_EQ(actual.shape(), expected.shape());
    auto a = actual.to_vector<float>(), b = expected.to_vector<float>();
    if (!b.empty())
      EXPECT_EQ(std::memcmp(a.data(), b.data(), 4 * b.size()), 0)
          << "batch " << batch;
  }
  EXPECT_EQ(compiled, 1u);
}

std::string errorOf(const std::function<void()> &f) {
  try {
    f();
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

} // namespace

TEST(SymbolicTest, elementwiseAndReductions) {
  compare([](Tensor x) { return exp(x) * 2.f + sum(x); });
  compare([](Tensor x) { return sum(x * x, 0); });
  compare([](Tensor x) { return sum(x, 1); });
  compare([](Tensor x) { return softmax(x, -1); });
  compare([](Tensor x) { return matrix_transpose(x) * 2.f; });
  compare([](Tensor x) { return concat({x, x * 2.f}, 1); });
}

TEST(SymbolicTest, model) {
  random::seed(1);
  Mlp model;
  eval(model.state_dict()); // else the first call computes these too
  compare([&](Tensor x) { return softmax(model(x), -1); });
}

TEST(SymbolicTest, trainingStep) {
  auto train = [](bool isSymbolic) {
    random::seed(1);
    Mlp model;
    optim::Adam adam({.lr = 1e-2f});
    auto step = jit(
        [&](Tensor x, Tensor y) {
          auto [loss, grads] = value_and_grad(
              [&](Mlp &m) { return cross_entropy(m(x), y); })(model);
          adam.step(model, grads);
          return loss;
        },
        {.symbolic = isSymbolic});
    std::vector<float> losses;
    for (int64_t batch : {4, 1, 3, 17, 600, 1030, 33})
      losses.push_back(step(images(batch), labels(batch)).item<float>());
    return losses;
  };
  EXPECT_EQ(train(true), train(false));
}

TEST(SymbolicTest, meanDividesByTheBatch) {
  auto f = [](Tensor x) { return mean(x, 0); };
  auto symbolic = jit(f, {.symbolic = true});
  auto fixed = jit(f);
  for (int64_t batch : {4, 1, 17, 600})
    EXPECT_EQ(symbolic(images(batch)).to_vector<float>(),
              fixed(images(batch)).to_vector<float>());
}

TEST(SymbolicTest, refusesASizeThatLeaks) {
  auto scaled = jit([](Tensor x) { return x * (1.f / float(x.shape()[0])); },
                    {.symbolic = true});
  EXPECT_NE(errorOf([&] { scaled(images(4)); }).find("depends on the batch"),
            std::string::npos);
  auto unrolled = jit(
      [](Tensor x) {
        Tensor y = x;
        for (int64_t i = 0; i < x.shape()[0]; ++i)
          y = y * y;
        return y;
      },
      {.symbolic = true});
  EXPECT_NE(errorOf([&] { unrolled(images(4)); }).find("batch"),
            std::string::npos);
}

TEST(SymbolicTest, namesTheConstraint) {
  auto first =
      jit([](Tensor x) { return x.index(slice(3)) * 2.f; }, {.symbolic = true});
  EXPECT_EQ(first(images(4)).shape(), Shape({3, 8}));
  EXPECT_NE(errorOf([&] {
              first(images(2));
            }).find("batch is 2, and must be at least 3"),
            std::string::npos);
}
