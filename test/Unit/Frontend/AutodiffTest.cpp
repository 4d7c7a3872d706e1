// Derivatives of recorded values and of functions.
#include "Support.h"

#include <thread>

namespace tessera {
namespace {

using AutodiffTest = FrontendTest;

TEST_F(AutodiffTest, GradOfRecordedValues) {
  Tensor x = tensor({1.f, 2.f}), w = tensor({3.f, 4.f});
  Tensor loss = sum(x * w * w);
  auto [dx, dw] = grad(loss, x, w);
  expectValues<float>(dx, {9, 16});
  expectValues<float>(dw, {6, 16});
  EXPECT_EQ(grad(loss, std::vector{x, w}).size(), 2u);
}

TEST_F(AutodiffTest, GradOfAValueBetween) {
  Tensor x = tensor({1.f, 2.f});
  Tensor y = x * 2.f;
  Tensor loss = sum(y * y);
  expectValues<float>(grad(loss, y), {4, 8});
  y.eval();
  expectValues<float>(grad(loss, y), {4, 8});
}

TEST_F(AutodiffTest, HigherOrdersOfRecordedValues) {
  Tensor x = tensor(2.f);
  Tensor y = x * x * x;
  Tensor first = grad(y, x), second = grad(first, x), third = grad(second, x);
  EXPECT_EQ(first.item<float>(), 12);
  // The first derivative is a value of its own; what came before was recorded.
  EXPECT_EQ(second.item<float>(), 12);
  EXPECT_EQ(third.item<float>(), 6);
}

TEST_F(AutodiffTest, AValueThatWasNeverUsedIsAnError) {
  Tensor x = tensor(2.f), other = tensor(1.f);
  std::string text = errorOf<ValueError>([&] { grad(x * x, other); });
  EXPECT_NE(text.find("never depended"), std::string::npos) << text;
  Tensor evaluated = exp(tensor(1.f));
  evaluated.eval();
  EXPECT_THROW(grad(x * x * evaluated, other), ValueError);
}

TEST_F(AutodiffTest, ACutPathNamesTheEvaluation) {
  Tensor x = tensor(2.f);
  Tensor y = x * x;
  y.eval();
  unsigned line = __LINE__ - 1;
  std::string text = errorOf<TraceError>([&] { grad(y * y, x); });
  EXPECT_NE(text.find("AutodiffTest.cpp:" + std::to_string(line)),
            std::string::npos)
      << text;
  Tensor loss = x * x;
  loss.item<float>();
  EXPECT_THROW(grad(loss, x), TraceError);
}

TEST_F(AutodiffTest, AZeroDerivativeIsNoError) {
  Tensor x = tensor({1.5f, 2.5f});
  expectValues<float>(grad(sum(floor(x)), x), {0, 0});
}

TEST_F(AutodiffTest, DetachAndNoGradCut) {
  Tensor x = tensor(3.f);
  EXPECT_EQ(grad(x * detach(x), x).item<float>(), 3);
  EXPECT_THROW(grad(detach(x), x), ValueError);
  Tensor y;
  {
    NoGrad guard;
    y = x * x;
  }
  EXPECT_EQ(grad(y * x, x).item<float>(), 9);
  EXPECT_THROW(grad(y * 2.f, x), ValueError);
}

TEST_F(AutodiffTest, OnlyScalarsOfFloats) {
  Tensor x = tensor({1.f, 2.f});
  EXPECT_THROW(grad(x * x, x), ShapeError);
  EXPECT_THROW(grad(sum(tensor({1})), x), ShapeError);
}

TEST_F(AutodiffTest, BackwardAddsUp) {
  Tensor w = tensor({1.f, 2.f});
  w.requires_grad(true);
  EXPECT_FALSE(w.grad().defined());
  sum(w * w).backward();
  expectValues<float>(w.grad(), {2, 4});
  sum(w * 3.f).backward();
  expectValues<float>(w.grad(), {5, 7});
  w.zero_grad();
  EXPECT_FALSE(w.grad().defined());
}

TEST_F(AutodiffTest, LeavesKeepTheirHistory) {
  Tensor w = tensor({1.f, 2.f});
  w.requires_grad(true);
  Tensor h = w * w;
  h.eval();
  Tensor loss = sum(h);
  EXPECT_EQ(loss.item<float>(), 5);
  EXPECT_TRUE(loss.requires_grad());
  loss.backward();
  expectValues<float>(w.grad(), {2, 4});
}

TEST_F(AutodiffTest, BackwardGivesTheHistoryUp) {
  Tensor w = tensor(2.f);
  w.requires_grad(true);
  Tensor loss = w * w;
  loss.backward(true);
  loss.backward();
  EXPECT_EQ(w.grad().item<float>(), 8);
  unsigned line = __LINE__ - 2;
  std::string text = errorOf<TraceError>([&] { loss.backward(); });
  EXPECT_NE(text.find(":" + std::to_string(line)), std::string::npos) << text;
  EXPECT_EQ(loss.item<float>(), 4);
  EXPECT_THROW(loss.backward(), TraceError);
}

TEST_F(AutodiffTest, BackwardOfAnEvaluatedValueGivesItsHistoryUp) {
  Tensor w = tensor(2.f);
  w.requires_grad(true);
  Tensor h = exp(w), loss = h * h;
  loss.eval();
  loss.backward();
  EXPECT_FALSE(loss.requires_grad());
  EXPECT_THROW(loss.backward(), TraceError);
  EXPECT_THROW((h * w).backward(), TraceError);
}

TEST_F(AutodiffTest, ARecordedValueCanBeALeaf) {
  Tensor w = tensor(2.f) * 3.f;
  w.requires_grad(true);
  Tensor loss = w * w;
  w.eval();
  loss.backward();
  EXPECT_EQ(w.grad().item<float>(), 12);
}

TEST_F(AutodiffTest, OnlyLeavesHaveGradients) {
  Tensor x = tensor(2.f);
  EXPECT_THROW(x.grad(), ValueError);
  EXPECT_THROW((x * x).backward(), ValueError);
  EXPECT_THROW(tensor(1).requires_grad(true), TypeError);
}

TEST_F(AutodiffTest, LeavesAreSharedByThreads) {
  Tensor w = tensor(2.f);
  w.requires_grad(true);
  auto work = [&] { (w * w).backward(); };
  std::thread a(work), b(work);
  a.join();
  b.join();
  EXPECT_EQ(w.grad().item<float>(), 8);
}

//===-- Functions --===//

TEST_F(AutodiffTest, GradOfAFunction) {
  auto f = [](Tensor x) { return sum(x * x * x); };
  expectValues<float>(grad(f)(tensor({1.f, 2.f})), {3, 12});
  EXPECT_EQ(grad(f)(2.f).item<float>(), 12);
  EXPECT_EQ(grad(grad(f))(2.f).item<float>(), 12);
  EXPECT_EQ(grad(grad(grad(f)))(2.f).item<float>(), 6);
}

TEST_F(AutodiffTest, ValueAndGrad) {
  auto f = [](Tensor x, Tensor y) { return sum(x * y); };
  Tensor x = tensor({1.f, 2.f}), y = tensor({3.f, 4.f});
  auto [value, dx] = value_and_grad(f)(x, y);
  EXPECT_EQ(value.item<float>(), 11);
  expectValues<float>(dx, {3, 4});
  auto [a, b] = grad(f, argnums{0, 1})(x, y);
  expectValues<float>(a, {3, 4});
  expectValues<float>(b, {1, 2});
}

struct Params {
  Tensor w, b;
  std::vector<Tensor> more;
  TESSERA_TREE(Params, w, b, more)
};

TEST_F(AutodiffTest, GradOfATree) {
  Params p{tensor(2.f), tensor(3.f), {tensor(5.f)}};
  auto f = [](Params p, Tensor x) { return p.w * x + p.b * p.more[0]; };
  Params g = grad(f)(p, tensor(7.f));
  EXPECT_EQ(g.w.item<float>(), 7);
  EXPECT_EQ(g.b.item<float>(), 5);
  EXPECT_EQ(g.more[0].item<float>(), 3);
}

TEST_F(AutodiffTest, AnArgumentThatDoesNotMatterHasZeroGradient) {
  auto f = [](Params p) { return p.w * 2.f; };
  Params g = grad(f)(Params{tensor(2.f), tensor({3.f, 1.f}), {}});
  expectValues<float>(g.b, {0, 0});
}

TEST_F(AutodiffTest, ATensorGivenTwiceIsTwoArguments) {
  auto f = [](Tensor x, Tensor y) { return x * y * y; };
  Tensor x = tensor(3.f);
  EXPECT_EQ(grad(f)(x, x).item<float>(), 9);
}

TEST_F(AutodiffTest, NestedDerivativesOfDifferentArguments) {
  // d/dx of (x * d/dy (x * y^2) at y = x) = d/dx of 2x^3.
  auto f = [](Tensor x) {
    auto g = [x](Tensor y) { return x * y * y; };
    return x * grad(g)(x);
  };
  EXPECT_EQ(grad(f)(3.f).item<float>(), 54);
}

TEST_F(AutodiffTest, Jvp) {
  auto f = [](Tensor x, Tensor w) { return x * w; };
  auto [y, t] = jvp(f, std::tuple{tensor(2.f), tensor(3.f)},
                    std::tuple{tensor(1.f), tensor(10.f)});
  EXPECT_EQ(y.item<float>(), 6);
  EXPECT_EQ(t.item<float>(), 23);
}

TEST_F(AutodiffTest, VjpMayBeCalledAfterEvaluation) {
  auto f = [](Tensor x, Tensor w) { return exp(x) * w; };
  auto [y, pullback] = vjp(f, tensor({0.f, 1.f}), tensor({2.f, 3.f}));
  expectNear(y, {2, 3 * std::exp(1)});
  auto [cx, cw] = pullback(tensor({1.f, 1.f}));
  expectNear(cx, {2, 3 * std::exp(1)});
  expectNear(cw, {1, std::exp(1)});
  auto [dx, dw] = pullback(tensor({0.f, 2.f}));
  expectNear(dw, {0, 2 * std::exp(1)});
  EXPECT_THROW(pullback(tensor(1.f)), ShapeError);
}

TEST_F(AutodiffTest, Jacobians) {
  auto f = [](Tensor x) { return stack({x[0] * x[1], x[1] * x[2]}); };
  Tensor x = tensor({2.f, 3.f, 4.f});
  Tensor forward = jacfwd(f)(x), reverse = jacrev(f)(x);
  EXPECT_EQ(forward.shape(), Shape({2, 3}));
  expectValues<float>(forward, {3, 2, 0, 0, 4, 3});
  expectValues<float>(reverse, {3, 2, 0, 0, 4, 3});
}

TEST_F(AutodiffTest, Hessian) {
  auto f = [](Tensor x) { return x[0] * x[0] * x[1]; };
  Tensor h = hessian(f)(tensor({2.f, 3.f}));
  EXPECT_EQ(h.shape(), Shape({2, 2}));
  expectValues<float>(h, {6, 4, 4, 0});
}

TEST_F(AutodiffTest, TracedValuesHaveNoElements) {
  unsigned line = 0;
  auto f = [&](Tensor x) {
    Tensor y = x * x;
    line = __LINE__ + 1;
    y.item<float>();
    return y;
  };
  std::string text = errorOf<TraceError>([&] { grad(f)(2.f); });
  EXPECT_NE(text.find("AutodiffTest.cpp:" + std::to_string(line) + ": [item]"),
            std::string::npos)
      << text;
  EXPECT_NE(
      text.find(":" + std::to_string(line - 2) + ": the value was recorded"),
      std::string::npos)
      << text;
}

TEST_F(AutodiffTest, OtherValuesMayBeEvaluatedInside) {
  Tensor scale = tensor(2.f) * 2.f;
  auto f = [&](Tensor x) { return x * scale.item<float>(); };
  EXPECT_EQ(grad(f)(3.f).item<float>(), 4);
}

TEST_F(AutodiffTest, TracedValuesDoNotEscape) {
  Tensor kept;
  auto f = [&](Tensor x) {
    kept = x * 2.f;
    return kept * x;
  };
  grad(f)(2.f);
  EXPECT_THROW(kept + 1.f, TraceError);
  EXPECT_THROW(kept.item<float>(), TraceError);
}

TEST_F(AutodiffTest, ExceptionsEndATransform) {
  auto f = [](Tensor x) -> Tensor { throw std::runtime_error("mine"); };
  EXPECT_THROW(grad(f)(2.f), std::runtime_error);
  EXPECT_EQ((tensor(1.f) + 1.f).item<float>(), 2);
}

/// Compares reverse mode with central differences in f64.
template <typename F> void checkGradient(F f, std::vector<double> at) {
  Tensor x = Tensor::from(at, {int64_t(at.size())});
  std::vector<double> g = grad(f)(x).template to_vector<double>();
  for (size_t i = 0; i < at.size(); ++i) {
    auto moved = [&](double by) {
      std::vector<double> point = at;
      point[i] += by;
      return f(Tensor::from(point, {int64_t(at.size())}))
          .template item<double>();
    };
    double expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
    EXPECT_NEAR(g[i], expected, 1e-5 * std::max(1.0, std::abs(expected)))
        << "at " << at[i];
  }
}

TEST_F(AutodiffTest, DerivativesOfFormulas) {
  std::vector<double> points{-2.5, -0.7, -1e-3, 1e-3, 0.4, 3.0};
  for (auto f : {expm1, sinh, cosh, asinh, tan, sigmoid, silu, softplus, tanh,
                 erf, square})
    checkGradient([f](Tensor x) { return sum(f(x)); }, points);
  checkGradient([](Tensor x) { return sum(gelu(x)); }, points);
  checkGradient([](Tensor x) { return sum(gelu(x, true)); }, points);
  checkGradient([](Tensor x) { return sum(relu(x)); }, points);
  checkGradient([](Tensor x) { return sum(log1p(abs(x))); }, points);
  checkGradient([](Tensor x) { return sum(atanh(x * 0.3)); }, points);
  checkGradient([](Tensor x) { return sum(acosh(abs(x) + 1.5)); }, points);
  checkGradient([](Tensor x) { return logsumexp(x); }, points);
  checkGradient([](Tensor x) { return var(x, none, 1); }, points);
  checkGradient([](Tensor x) { return std(x); }, points);
  checkGradient([](Tensor x) { return sum(logaddexp(x, flip(x))); }, points);
  checkGradient([](Tensor x) { return prod(x); }, points);
  checkGradient([](Tensor x) { return max(x); }, points);
  checkGradient([](Tensor x) { return sum(softmax(x) * x); }, points);
  checkGradient([](Tensor x) { return sum(layer_norm(x, x, 0.5) * x); },
                points);
  checkGradient([](Tensor x) { return sum(rms_norm(x, x)); }, points);
}

TEST_F(AutodiffTest, DerivativesAtSpecialPoints) {
  auto at = [](Tensor (*f)(const Operand &), float x) {
    return grad([f](Tensor x) { return f(x); })(x).item<float>();
  };
  EXPECT_EQ(at(relu, 0), 0);
  EXPECT_EQ(at(abs, 0), 0);
  EXPECT_EQ(at(log1p, 0), 1);
  EXPECT_EQ(at(expm1, 0), 1);
  EXPECT_EQ(at(sinh, 0), 1);
  EXPECT_EQ(at(asinh, 0), 1);
  EXPECT_EQ(at(atanh, 0), 1);
  EXPECT_EQ(at(softplus, 0), 0.5f);
  EXPECT_EQ(at(sigmoid, -200), 0);
  EXPECT_EQ(at(sign, 0), 0);
  EXPECT_EQ(at(round, 0.3f), 0);
}

} // namespace
} // namespace tessera
