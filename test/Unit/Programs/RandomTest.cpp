// Random numbers: ranges, moments, and independence of keys.
#include <gtest/gtest.h>
#include <tessera/tessera.h>

using namespace tessera;

TEST(RandomTest, uniformStaysInside) {
  Tensor x = random::uniform(random::key(1), {100000}, 2.f, 5.f);
  EXPECT_GE(min(x).item<float>(), 2);
  EXPECT_LT(max(x).item<float>(), 5);
  EXPECT_NEAR(mean(x).item<float>(), 3.5, 0.02);
}

TEST(RandomTest, normalHasItsMoments) {
  Tensor x = random::normal(random::key(2), {200000});
  EXPECT_NEAR(mean(x).item<float>(), 0, 0.01);
  EXPECT_NEAR(var(x).item<float>(), 1, 0.02);
  EXPECT_TRUE(all(isfinite(x)).item<bool>());
}

TEST(RandomTest, keysDetermineTheNumbers) {
  auto draw = [](random::Key k) {
    return random::uniform(k, {16}).to_vector<float>();
  };
  EXPECT_EQ(draw(random::key(7)), draw(random::key(7)));
  auto [a, b] = random::split(random::key(7));
  EXPECT_NE(draw(a), draw(b));
  EXPECT_NE(draw(a), draw(random::key(7)));
}

TEST(RandomTest, randintAndBernoulli) {
  Tensor x = random::randint(random::key(3), {10000}, -3, 4);
  EXPECT_EQ(min(x).item<int32_t>(), -3);
  EXPECT_EQ(max(x).item<int32_t>(), 3);
  EXPECT_THROW(random::randint(random::key(3), {1}, 4, 4), ValueError);
  EXPECT_NEAR(
      mean(random::bernoulli(random::key(4), 0.25f, {100000}).astype(f32))
          .item<float>(),
      0.25, 0.01);
}

TEST(RandomTest, categoricalFollowsTheLogits) {
  Tensor logits = broadcast_to(log(tensor({0.7f, 0.2f, 0.1f})), {20000, 3});
  Tensor first = equal(random::categorical(random::key(5), logits), 0);
  EXPECT_NEAR(mean(first.astype(f32)).item<float>(), 0.7, 0.02);
}
