// Long runs with flat memory: calls of one compiled step, and distinct traces.
#include "frontend/Program.h"
#include "tessera/tessera.h"
#include "gtest/gtest.h"
#include <fstream>
#include <unistd.h>

using namespace tessera;

namespace {

constexpr double kMiB = 1 << 20;
/// What the C library's heap may keep or give back at any time.
constexpr double kSlack = 6 * kMiB;

double residentBytes() {
  std::ifstream file("/proc/self/statm");
  double size = 0, resident = 0;
  file >> size >> resident;
  return resident * double(sysconf(_SC_PAGESIZE));
}

bool all() { return std::getenv("TESSERA_TEST_ALL") != nullptr; }

/// The resident memory after each of several equal parts of a run has stopped
/// growing: the last half of the parts adds no more than the slack.
void expectFlat(const std::vector<double> &resident) {
  size_t middle = resident.size() / 2;
  std::string text;
  for (double bytes : resident)
    text += " " + std::to_string(int(bytes / kMiB));
  std::printf("resident MiB:%s\n", text.c_str());
  EXPECT_LE(resident.back(), resident[middle] + kSlack);
}

TEST(Soak, CallsOfOneStep) {
  Variable w = zeros({8, 4}), b = zeros({4}), velocity = zeros({8, 4});
  Tensor x = random::normal(random::key(1), {16, 8}),
         y = random::normal(random::key(2), {16, 4});
  auto step = jit([&](Tensor rate) {
    auto [loss, gradient] = value_and_grad([&](Tensor w) {
      return mean(square(tanh(matmul(x, w) + b) - y));
    })(w.value());
    velocity = velocity * 0.9f + gradient;
    w = w - rate * velocity;
    b = b - rate * sum(gradient, 0);
    return loss;
  });
  const int calls = all() ? 200'000 : 20'000, parts = 8;
  float first = step(0.01f).item<float>(), last = first;
  std::vector<double> resident;
  for (int part = 0; part < parts; ++part) {
    for (int i = 0; i < calls / parts; ++i) {
      // A schedule of rates, which are arguments and compile nothing anew.
      Tensor loss = step(0.01f / float(1 + part * calls / parts + i));
      if (i % 1000 == 0)
        last = loss.item<float>();
    }
    resident.push_back(residentBytes());
  }
  EXPECT_LT(last, first);
  expectFlat(resident);
}

/// Program number n: each binary digit of n chooses one op of a chain.
Tensor program(int n, const Tensor &x, const Tensor &y) {
  Tensor value = x;
  for (int bit = 0; bit < 15; ++bit)
    value = (n >> bit) & 1 ? value * y : value + y;
  return value;
}

TEST(Soak, DistinctTraces) {
  // Unfused, the programs share their few kernels, and compiling one is cheap.
  const bool many = all();
  if (many)
    setenv("TESSERA_FUSE", "0", 1);
  const int traces = many ? 20'000 : 320, parts = 8;
  Tensor x = tensor({1.f, 2.f, 3.f}), y = tensor({1.f, 1.f, 1.f});
  std::vector<double> resident;
  for (int part = 0; part < parts; ++part) {
    for (int i = 0; i < traces / parts; ++i) {
      int n = part * traces / parts + i;
      // With y = 1 the result counts the additions.
      ASSERT_EQ(program(n, x, y).to_vector<float>()[0],
                float(16 - __builtin_popcount(unsigned(n))));
    }
    // In the long run the caches are full, and have to stay within bounds by
    // themselves.
    if (!many) {
      clear_cache();
    }
    resident.push_back(residentBytes());
  }
  expectFlat(resident);
  if (many)
    unsetenv("TESSERA_FUSE");
}

} // namespace
