// Arguments and variables whose memory a call uses up: what callers see of it.
#include <gtest/gtest.h>
#include <tessera/tessera.h>

#include <atomic>
#include <thread>

using namespace tessera;

namespace {

const void *address(const Tensor &x) { return x.bytes().data(); }

Tensor numbers(int64_t size) {
  return random::normal(random::key(uint64_t(size)), {size}).eval();
}

std::string errorOf(const std::function<void()> &f) {
  try {
    f();
  } catch (const ValueError &error) {
    return error.what();
  }
  return "";
}

} // namespace

TEST(DonationTest, givesTheSameBits) {
  auto f = [](Tensor x, Tensor y) { return x * 2.f + y; };
  Tensor x = numbers(100), y = numbers(101).index(slice(100));
  std::vector<float> expected = f(x, y).to_vector<float>();
  auto donating = jit(f, {.donate = {0}});
  EXPECT_EQ(donating(x, y).to_vector<float>(), expected);
  x = numbers(100);
  EXPECT_EQ(donating(x, y).to_vector<float>(), expected);
}

TEST(DonationTest, resultsTakeTheMemory) {
  auto f = jit([](Tensor x, Tensor y) { return exp(x) * y; }, {.donate = {0}});
  Tensor y = numbers(5000);
  for (int i = 0; i < 3; ++i) {
    Tensor x = numbers(5000);
    const void *memory = address(x);
    EXPECT_EQ(address(f(x, y)), memory);
  }
  Variable state = numbers(5000);
  auto step = jit([&](Tensor x) { state = state * 0.5f + x; });
  step(y);
  const void *memory = address(state);
  step(y);
  EXPECT_EQ(address(state), memory);
}

TEST(DonationTest, namesTheCallWhenAnArgumentIsUsedAgain) {
  Tensor x = numbers(8), copy = x, y = numbers(8);
  unsigned line = __LINE__ + 1;
  auto f = jit([](Tensor x, Tensor y) { return x + y; }, {.donate = {0}});
  f(x, y);
  std::string text = errorOf([&] { copy + 1.f; });
  EXPECT_NE(text.find("[add] the tensor was donated to a call"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("DonationTest.cpp:" + std::to_string(line)),
            std::string::npos)
      << text;
  EXPECT_THROW(x.to_vector<float>(), ValueError);
  EXPECT_THROW(x.span<float>(), ValueError);
  EXPECT_THROW(x[0], ValueError);
  EXPECT_THROW(grad(sum(y), x), ValueError);
  EXPECT_THROW(f(x, y), ValueError);
  EXPECT_THROW(jit([&](Tensor y) { return y + x; })(y), ValueError);
  EXPECT_THROW(jit([&](Tensor) { return x; })(y), ValueError);
  EXPECT_EQ(x.shape(), Shape({8}));
  y.eval(); // was not donated
}

TEST(DonationTest, takesAllTensorsOfATree) {
  auto f = jit([](std::pair<Tensor, Tensor> p) { return p.first + 1.f; },
               {.donate = {0}});
  std::pair p(numbers(4), numbers(5)); // the second is not read
  f(p);
  EXPECT_THROW(p.first.eval(), ValueError);
  EXPECT_THROW(p.second.eval(), ValueError);
}

TEST(DonationTest, oneTensorGivenTwiceIsCopied) {
  auto f =
      jit([](Tensor x, Tensor y) { return (x + 1.f) * y; }, {.donate = {0, 1}});
  Tensor x = ones({4});
  EXPECT_EQ(f(x, x).to_vector<float>(), (std::vector<float>{2, 2, 2, 2}));
  EXPECT_THROW(x.eval(), ValueError);
}

TEST(DonationTest, valuesThatWereRecordedBeforeKeepTheirBytes) {
  auto f = jit([](Tensor x) { return x * 0.f; }, {.donate = {0}});
  Tensor x = ones({4}).eval(), later = x + 1.f, view = x.index(slice(2));
  f(x);
  EXPECT_EQ(later.to_vector<float>(), (std::vector<float>{2, 2, 2, 2}));
  EXPECT_EQ(view.to_vector<float>(), (std::vector<float>{1, 1}));
}

TEST(DonationTest, borrowedMemoryIsNotWrittenTo) {
  auto f = jit([](Tensor x) { return x * 0.f; }, {.donate = {0}});
  float data[] = {1, 2};
  f(Tensor::borrow(data, {2}));
  EXPECT_EQ(data[0], 1);
}

TEST(DonationTest, positionsAreChecked) {
  auto f = jit([](Tensor x) { return x; }, {.donate = {1}});
  EXPECT_THROW(f(numbers(4)), ValueError);
}

TEST(DonationTest, aDonatedArgumentMayBeReturned) {
  auto f = jit([](Tensor x) { return std::pair(x, x + 1.f); }, {.donate = {0}});
  for (int i = 0; i < 3; ++i) {
    auto [same, next] = f(ones({4}).eval());
    EXPECT_EQ(same.to_vector<float>(), std::vector<float>(4, 1));
    EXPECT_EQ(next.to_vector<float>(), std::vector<float>(4, 2));
  }
}

TEST(DonationTest, aCallThatThrowsGivesBack) {
  Variable wrong = ones({4});
  auto f = jit([&](Tensor x) { return x + wrong; }, {.donate = {0}});
  f(ones({4}).eval());
  Tensor x = ones({4}).eval();
  wrong = ones({5}); // the program was traced for four
  EXPECT_THROW(f(x), ValueError);
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 1, 1, 1}));
}

TEST(DonationTest, anInlinedCallUsesNothingUp) {
  auto f = jit([](Tensor x) { return sum(x * x); }, {.donate = {0}});
  Tensor x = ones({2});
  EXPECT_EQ(grad([&](Tensor y) { return f(y) + sum(y); })(x).to_vector<float>(),
            (std::vector<float>{3, 3}));
  x.eval();
}

TEST(DonationTest, variablesAreUpdatedInPlace) {
  Variable state = numbers(1000);
  std::vector<float> expected = state.to_vector<float>();
  auto step = jit([&](Tensor x) { state = state * 0.5f + x; });
  for (int i = 0; i < 5; ++i) {
    step(1.f);
    for (float &value : expected)
      value = value * 0.5f + 1.f;
  }
  EXPECT_EQ(state.to_vector<float>(), expected);
}

TEST(DonationTest, aHandleToTheOldValueKeepsIt) {
  Variable state = ones({4});
  auto step = jit([&](Tensor x) { state = state + x; });
  step(1.f);
  Tensor old = state;
  step(1.f);
  EXPECT_EQ(old.to_vector<float>(), (std::vector<float>{2, 2, 2, 2}));
  EXPECT_EQ(state.to_vector<float>(), (std::vector<float>{3, 3, 3, 3}));
}

TEST(DonationTest, theOldValueMayBeReturned) {
  Variable count = 0.f;
  auto next = jit([&] {
    Tensor old = count;
    count = count + 1.f;
    return old;
  });
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(next().item<float>(), float(i));
}

TEST(DonationTest, twoVariablesMayBeExchanged) {
  Variable a = tensor({1.f, 2.f}), b = tensor({3.f, 4.f});
  auto exchange = jit([&] {
    Tensor old = a;
    a = b;
    b = old;
  });
  exchange();
  exchange();
  exchange();
  EXPECT_EQ(a.to_vector<float>(), (std::vector<float>{3, 4}));
  EXPECT_EQ(b.to_vector<float>(), (std::vector<float>{1, 2}));
}

TEST(DonationTest, readersAndStepsOfOtherThreadsSeeWholeValues) {
  Variable a = zeros({64}), b = zeros({64});
  auto forth = jit([&](Tensor x) { a = a + x, b = b + x; });
  auto back = jit([&](Tensor x) { b = b + x, a = a + x; });
  forth(0.f), back(0.f);
  std::atomic<bool> done{false};
  auto read = [&] {
    while (!done) {
      std::vector<float> values = a.to_vector<float>();
      EXPECT_EQ(values, std::vector<float>(64, values[0]));
      EXPECT_EQ(b.shape(), Shape({64}));
      std::this_thread::yield();
    }
  };
  std::thread reader(read);
  std::thread other([&] {
    for (int i = 0; i < 200; ++i)
      back(1.f);
  });
  for (int i = 0; i < 200; ++i)
    forth(1.f);
  other.join();
  done = true;
  reader.join();
  float sum = a.to_vector<float>()[0];
  EXPECT_GE(sum, 200);
  EXPECT_LE(sum, 400);
}
