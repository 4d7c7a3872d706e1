// Tensors: made, recorded, evaluated, read, printed.
#include "Support.h"

#include <sstream>
#include <thread>

namespace tessera {
namespace {

using TensorTest = FrontendTest;

TEST_F(TensorTest, HoldsNestedLists) {
  Tensor x = tensor({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  EXPECT_EQ(x.shape(), Shape({2, 3}));
  EXPECT_EQ(x.dtype(), f32);
  expectValues<float>(x, {1, 2, 3, 4, 5, 6});
}

TEST_F(TensorTest, TakesTheDTypeOfLiterals) {
  EXPECT_EQ(tensor({1, 2}).dtype(), i32);
  EXPECT_EQ(tensor({1.0, 2.0}).dtype(), f32);
  EXPECT_EQ(tensor({1.0, 2.0}, f64).dtype(), f64);
  EXPECT_EQ(tensor({true, false}).dtype(), boolean);
  EXPECT_EQ(tensor(2.f).ndim(), 0);
}

TEST_F(TensorTest, RejectsRaggedLists) {
  EXPECT_THROW(tensor({{1.f}, {2.f, 3.f}}), ShapeError);
}

TEST_F(TensorTest, ComputesWhenAsked) {
  Tensor x = tensor({1.f, 2.f}), y = tensor({10.f, 20.f});
  expectValues<float>(x + y, {11, 22});
}

TEST_F(TensorTest, NumbersTakeTheTensorsDType) {
  Tensor x = tensor({1, 2});
  EXPECT_EQ((x + 1).dtype(), i32);
  EXPECT_EQ((x + 1.5).dtype(), f32);
  EXPECT_EQ((tensor({1.f}, f64) + 1.f).dtype(), f64);
  expectValues<float>(2.f - tensor({0.5f}), {1.5f});
}

TEST_F(TensorTest, Broadcasts) {
  Tensor x = tensor({{1.f}, {2.f}}), y = tensor({10.f, 20.f, 30.f});
  expectValues<float>(x + y, {11, 21, 31, 12, 22, 32});
}

TEST_F(TensorTest, NamesShapesThatDoNotBroadcast) {
  Tensor x = zeros({2, 3}), y = zeros({4, 5});
  unsigned line = __LINE__ + 1;
  std::string text = errorOf<ShapeError>([&] { x + y; });
  EXPECT_EQ(text, std::string(__FILE__) + ":" + std::to_string(line) +
                      ": [add] the shapes do not broadcast: f32[2,3] and "
                      "f32[4,5]");
}

TEST_F(TensorTest, ReducesAndMultiplies) {
  Tensor x = tensor({{1.f, 2.f}, {3.f, 4.f}});
  EXPECT_EQ(sum(x).item<float>(), 10);
  expectValues<float>(sum(x, 0), {4, 6});
  expectValues<float>(matmul(x, x), {7, 10, 15, 22});
  expectNear(exp(x), {std::exp(1), std::exp(2), std::exp(3), std::exp(4)});
}

TEST_F(TensorTest, EvaluatesOnce) {
  Tensor x = tensor({1.f, 2.f}) * 2.f;
  x.eval();
  const float *data = x.span<float>().data();
  EXPECT_EQ(x.span<float>().data(), data);
}

TEST_F(TensorTest, BorrowsUntilTheLastHandleGoes) {
  float data[] = {1, 2};
  bool released = false;
  {
    Tensor y;
    {
      Tensor x = Tensor::borrow(data, {2}, [&] { released = true; });
      EXPECT_EQ(x.span<float>().data(), data);
      y = x + x;
    }
    EXPECT_FALSE(released);
    expectValues<float>(y, {2, 4});
  }
  EXPECT_TRUE(released);
}

TEST_F(TensorTest, EmptyHandlesAreErrors) {
  Tensor none;
  EXPECT_THROW(none + 1.f, ValueError);
  EXPECT_THROW(none.eval(), ValueError);
  EXPECT_THROW(none.shape(), ValueError);
}

TEST_F(TensorTest, ReadsAsOtherTypesThatFit) {
  EXPECT_EQ(tensor(3).item<double>(), 3.0);
  EXPECT_EQ(tensor({1.f}, bf16).to_vector<float>(), std::vector<float>{1});
  EXPECT_THROW(tensor(1.5f).item<int>(), TypeError);
  EXPECT_THROW(tensor({1.f, 2.f}).item<float>(), ShapeError);
  EXPECT_THROW(tensor({1.f}).span<double>(), TypeError);
}

TEST_F(TensorTest, Prints) {
  std::ostringstream out;
  out << tensor({{1.f, -2.5f}, {30.f, 4.f}}) << "\n"
      << tensor(7) << "\n"
      << tensor({true});
  EXPECT_EQ(out.str(), "[[   1, -2.5],\n [  30,    4]]\n7\n[true]");
}

TEST_F(TensorTest, PrintsTheEndsOfLargeTensors) {
  std::ostringstream out;
  out << arange(2000);
  EXPECT_EQ(out.str(), "[   0,    1,    2, ..., 1997, 1998, 1999]");
}

TEST_F(TensorTest, ChainsOfAnyLengthAreEvaluatedAndReleased) {
  Tensor x = tensor(0.f);
  for (int i = 0; i < 5000; ++i)
    x = x + 1.f;
  EXPECT_EQ(x.item<float>(), 5000);
  Tensor y = tensor(0.f);
  for (int i = 0; i < 50000; ++i)
    y = y + 1.f;
}

TEST_F(TensorTest, HandlesOutliveTheirThread) {
  Tensor x;
  std::thread([&] { x = tensor({1.f, 2.f}) * 3.f; }).join();
  expectValues<float>(x + 1.f, {4, 7});
}

TEST_F(TensorTest, ValuesOfOtherThreadsAreEvaluatedByTheirOwner) {
  Tensor x = tensor({1.f, 2.f}) * 3.f;
  std::vector<float> seen;
  std::thread([&] { seen = (x + x).to_vector<float>(); }).join();
  EXPECT_EQ(seen, (std::vector<float>{6, 12}));
}

TEST_F(TensorTest, ThreadsShareTensorsFreely) {
  Tensor known = ones({4}), recorded = known * 2.f;
  auto work = [&] {
    for (int i = 0; i < 20; ++i) {
      Tensor mine = known + recorded;
      Tensor copy = recorded;
      EXPECT_EQ(sum(mine * copy).item<float>(), 24);
    }
  };
  std::thread a(work), b(work);
  work();
  a.join();
  b.join();
}

} // namespace
} // namespace tessera
