// jit: one program a signature, variables, captures, and misuse.
#include <gtest/gtest.h>
#include <tessera/tessera.h>

using namespace tessera;

TEST(JitTest, givesTheBitsOfTheFunction) {
  auto f = [](Tensor a, Tensor b) { return softmax(a * b + 0.5f, -1); };
  Tensor a = random::normal(random::key(1), {5, 37}),
         b = random::normal(random::key(2), {5, 37});
  EXPECT_EQ(jit(f)(a, b).to_vector<float>(), f(a, b).to_vector<float>());
}

TEST(JitTest, readsAndWritesVariables) {
  Variable count = 0.f;
  auto next = jit([&](Tensor x) {
    count = count + x;
    return count * 2.f;
  });
  EXPECT_EQ(next(1.f).item<float>(), 2);
  EXPECT_EQ(next(3.f).item<float>(), 8);
  EXPECT_EQ(count.item<float>(), 4);
  count = 10.f;
  EXPECT_EQ(next(1.f).item<float>(), 22);
}

TEST(JitTest, bindsCapturedTensors) {
  Tensor w = tensor({1.f, 2.f}) * 2.f; // recorded, not evaluated
  auto f = jit([&](Tensor x) { return x + w; });
  EXPECT_EQ(f(tensor({1.f, 1.f})).to_vector<float>(),
            (std::vector<float>{3, 5}));
  w = tensor({0.f, 0.f});
  EXPECT_EQ(f(tensor({1.f, 1.f})).to_vector<float>(),
            (std::vector<float>{3, 5}));
}

TEST(JitTest, tracesOnceForEachSignature) {
  int traces = 0;
  auto f = jit([&](Tensor x, int n) {
    ++traces;
    return x * float(n);
  });
  f(tensor({1.f, 2.f}), 2);
  f(tensor({3.f, 4.f}), 2);
  EXPECT_EQ(traces, 1);
  EXPECT_EQ(f(tensor({3.f, 4.f}), 3).to_vector<float>(),
            (std::vector<float>{9, 12}));
  EXPECT_EQ(traces, 2);
  f(tensor({3.f}), 3);
  EXPECT_EQ(traces, 3);
}

TEST(JitTest, lookingAtATracedValueThrows) {
  auto f = jit([](Tensor x) { return x * x.item<float>(); });
  EXPECT_THROW(f(tensor(2.f)), TraceError);
}

TEST(JitTest, anEscapedValueThrows) {
  Tensor escaped;
  auto f = jit([&](Tensor x) {
    escaped = x + 1.f;
    return x;
  });
  f(tensor(2.f));
  EXPECT_THROW(escaped.item<float>(), TraceError);
}

TEST(JitTest, aFunctionThatThrowsWritesNothing) {
  Variable v = 1.f;
  auto f = jit([&](Tensor x) -> Tensor {
    v = v + x;
    throw std::runtime_error("no");
  });
  EXPECT_THROW(f(tensor(2.f)), std::runtime_error);
  EXPECT_EQ(v.item<float>(), 1);
}

TEST(JitTest, isInlinedUnderATransform) {
  auto square_ = jit([](Tensor x) { return x * x; });
  EXPECT_EQ(
      grad([&](Tensor x) { return square_(x); })(tensor(3.f)).item<float>(), 6);
}

TEST(JitTest, returnsTrees) {
  auto f = jit([](std::vector<Tensor> xs) {
    return std::pair(xs[0] + xs[1],
                     std::map<std::string, Tensor>{{"d", xs[0] - xs[1]}});
  });
  auto [s, m] = f(std::vector{tensor(5.f), tensor(3.f)});
  EXPECT_EQ(s.item<float>(), 8);
  EXPECT_EQ(m.at("d").item<float>(), 2);
}

TEST(VariableTest, aCopyIsAnotherCellAndAMoveTheSame) {
  Variable a = 1.f, copy = a;
  copy = 2.f;
  EXPECT_EQ(a.item<float>(), 1);
  Variable moved = std::move(copy);
  EXPECT_EQ(moved.item<float>(), 2);
}
