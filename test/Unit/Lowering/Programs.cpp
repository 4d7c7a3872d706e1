// The programs, recorded by the front end.
#include "test/Unit/Lowering/Programs.h"
#include <tessera/tessera.h>

namespace tessera::test {

namespace {
struct Mlp : nn::Module {
  nn::Linear a{8, 16}, b{16, 4};
  Tensor operator()(Tensor x) { return b(relu(a(x))); }
  TESSERA_TREE(Mlp, a, b)
};

std::string trainingStep() {
  Mlp model;
  optim::Adam adam({.lr = 1e-2f});
  auto step = [&](Tensor x, Tensor y) {
    auto [loss, grads] = value_and_grad(
        [&](Mlp &m) { return mean(square(softmax(m(x), -1) - y)); })(model);
    adam.step(model, grads);
    return loss;
  };
  return lower(step, zeros({32, 8}), zeros({32, 4})).text(Stage::trace);
}
} // namespace

const std::vector<Program> &programs() {
  static const std::vector<Program> list{
      {"elementwise", lower(
                          [](Tensor a, Tensor b) {
                            return exp(a) * 2.f + tanh(b) / (1.f + square(a));
                          },
                          zeros({7, 33}), zeros({7, 33}))
                          .text(Stage::trace)},
      {"softmax",
       lower([](Tensor a) { return softmax(a, -1); }, zeros({9, 130}))
           .text(Stage::trace)},
      {"dense", lower([](Tensor x, Tensor w,
                         Tensor b) { return relu(matmul(x, w) + b); },
                      zeros({17, 24}), zeros({24, 40}), zeros({40}))
                    .text(Stage::trace)},
      {"training step", trainingStep()},
      {"results", lower(
                      [](Tensor a, Tensor b) {
                        Tensor s = a + b;
                        return std::tuple(sum(s, 0), s, a, reshape(s, {-1}), s,
                                          max(matrix_transpose(s), 1));
                      },
                      zeros({12, 20}), zeros({12, 20}))
                      .text(Stage::trace)},
      {"random", lower(
                     [](Tensor a) {
                       auto key = random::key(7);
                       return a + random::normal(key, {5, 11});
                     },
                     zeros({5, 11}))
                     .text(Stage::trace)}};
  return list;
}

} // namespace tessera::test
