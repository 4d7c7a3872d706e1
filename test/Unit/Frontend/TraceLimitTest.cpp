// A trace that nobody evaluates: its older half is computed and forgotten.
#include "Support.h"

#include <fstream>
#include <unistd.h>

namespace tessera {
namespace detail {
size_t compileCount(); // frontend/Program.h, which needs LLVM's headers
size_t recordedOps();
} // namespace detail

namespace {

using TraceLimitTest = FrontendTest;

int64_t residentBytes() {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

TEST_F(TraceLimitTest, ALoopWithoutEvaluationStaysSmall) {
  Tensor x = zeros({4});
  auto steps = [&](int count) {
    for (int i = 0; i < count; ++i)
      x = x + 1.f; // three ops each
  };
  steps(8000);
  [[maybe_unused]] int64_t before = residentBytes();
  size_t most = 0;
  for (int i = 0; i < 200; ++i) {
    steps(130);
    most = std::max(most, detail::recordedOps());
  }
  EXPECT_LE(most, 8192 + 64);         // what other tests have left included
#if !__has_feature(address_sanitizer) // It keeps freed memory for a while.
  EXPECT_LT(residentBytes() - before, 16 << 20);
#endif
  expectValues<float>(x, {34000, 34000, 34000, 34000});
}

TEST_F(TraceLimitTest, TheStepsOfALoopAreCompiledOnce) {
  if (default_device() != Device("cpu"))
    GTEST_SKIP() << "nothing is compiled";
  Tensor x = ones({4}), v = zeros({4});
  auto step = [&] {
    v = 0.5f * v - x * x;
    x = x + 0.125f * tanh(v);
  };
  for (int i = 0; i < 2500; ++i)
    step();
  size_t before = detail::compileCount();
  for (int i = 0; i < 2500; ++i)
    step();
  EXPECT_EQ(detail::compileCount(), before);
}

TEST_F(TraceLimitTest, TheNewestHalfHasItsHistory) {
  Tensor x = tensor(1.f), w;
  for (int i = 0; i < 9000; ++i) {
    x = x + 1.f;
    if (i % 1000 == 0) {
      w = x * 1.f;
      Tensor y = w;
      for (int j = 0; j < 2000; ++j) // two ops each
        y = y * 1.f;
      EXPECT_EQ(grad(y * 3.f, w).item<float>(), 3);
    }
  }
}

TEST_F(TraceLimitTest, HistoryThatIsGoneIsNamed) {
  Tensor w = tensor(2.f), y = w * 3.f;
  for (int i = 0; i < 6000; ++i)
    y = y + 1.f;
  std::string text = errorOf<TraceError>([&] { grad(y, w); });
  EXPECT_NE(text.find("the limit of 8,192 recorded ops"), std::string::npos)
      << text;
}

TEST_F(TraceLimitTest, ALeafKeepsItsHistory) {
  Tensor w = tensor(2.f);
  w.requires_grad(true);
  Tensor y = w * 3.f;
  for (int i = 0; i < 6000; ++i)
    y = y + 1.f;
  y.backward();
  EXPECT_EQ(w.grad().item<float>(), 3);
}

TEST_F(TraceLimitTest, HandlesToOldValuesStay) {
  Tensor x = tensor({1.f, 2.f}), sum = x;
  std::vector<Tensor> held;
  for (int i = 0; i < 5000; ++i) {
    sum = sum + x;
    if (i % 100 == 0)
      held.push_back(sum * 2.f);
  }
  for (size_t i = 0; i < held.size(); ++i)
    EXPECT_EQ(held[i].to_vector<float>()[1], 4 * (float(i) * 100 + 2));
}

TEST_F(TraceLimitTest, ATransformIsNotCut) {
  auto f = [](Tensor x) {
    Tensor w = x;
    for (int i = 0; i < 5000; ++i)
      x = x * 1.f;
    return x * w;
  };
  Tensor x = tensor(3.f);
  EXPECT_EQ(grad(f)(x).item<float>(), 6);
  EXPECT_EQ(jit(f)(x).item<float>(), 9);
}

TEST_F(TraceLimitTest, APullbackOutlivesTheLimit) {
  auto [y, pullback] = vjp([](Tensor x) { return x * x * x; }, tensor(2.f));
  Tensor x = tensor(0.f);
  for (int i = 0; i < 9000; ++i)
    x = x + 1.f;
  EXPECT_EQ(pullback(tensor(1.f)).item<float>(), 12);
  EXPECT_EQ(y.item<float>(), 8);
}

TEST_F(TraceLimitTest, DevicesAreToldApart) {
  Tensor a = tensor(0.f).to(Device("cpu")),
         b = tensor(0.f).to(Device("reference"));
  for (int i = 0; i < 3000; ++i) {
    a = a + 1.f;
    b = b + 2.f;
  }
  EXPECT_EQ(a.device(), Device("cpu"));
  EXPECT_EQ(a.item<float>(), 3000);
  EXPECT_EQ(b.item<float>(), 6000);
}

} // namespace
} // namespace tessera
