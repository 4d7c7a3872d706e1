// Functions that rearrange, combine and index elements.
#include "Support.h"

namespace tessera {
namespace {

using ShapeOpsTest = FrontendTest;

/// 0, 1, 2, ... in a shape.
Tensor counting(const Shape &shape, DType dtype = f32) {
  return reshape(arange(shape.elements(), dtype), shape);
}

TEST_F(ShapeOpsTest, Reshapes) {
  Tensor x = counting({2, 3});
  EXPECT_EQ(reshape(x, {3, -1}).shape(), Shape({3, 2}));
  EXPECT_EQ(flatten(counting({2, 3, 4}), 1).shape(), Shape({2, 12}));
  EXPECT_EQ(squeeze(counting({1, 3, 1})).shape(), Shape({3}));
  EXPECT_EQ(squeeze(counting({1, 3, 1}), 0).shape(), Shape({3, 1}));
  EXPECT_EQ(expand_dims(x, {0, -1}).shape(), Shape({1, 2, 3, 1}));
  EXPECT_THROW(reshape(x, {4, -1}), ShapeError);
  EXPECT_THROW(reshape(x, {7}), ShapeError);
  EXPECT_THROW(squeeze(x, 0), ShapeError);
}

TEST_F(ShapeOpsTest, Permutes) {
  Tensor x = counting({2, 3});
  expectValues<float>(x.T(), {0, 3, 1, 4, 2, 5});
  Tensor y = counting({2, 3, 4});
  EXPECT_EQ(permute_dims(y, {2, 0, 1}).shape(), Shape({4, 2, 3}));
  EXPECT_EQ(matrix_transpose(y).shape(), Shape({2, 4, 3}));
  EXPECT_EQ(moveaxis(y, 0, -1).shape(), Shape({3, 4, 2}));
  EXPECT_EQ(swapaxes(y, 0, 2).shape(), Shape({4, 3, 2}));
  EXPECT_THROW(permute_dims(y, {0, 0, 1}), ShapeError);
  EXPECT_THROW(y.T(), ShapeError);
}

TEST_F(ShapeOpsTest, FlipsRollsAndRepeats) {
  Tensor x = counting({4});
  expectValues<float>(flip(x), {3, 2, 1, 0});
  expectValues<float>(roll(x, 1), {3, 0, 1, 2});
  expectValues<float>(roll(x, -1), {1, 2, 3, 0});
  expectValues<float>(repeat(counting({2}), 2), {0, 0, 1, 1});
  expectValues<float>(tile(counting({2}), {2, 2}), {0, 1, 0, 1, 0, 1, 0, 1});
  expectValues<float>(broadcast_to(counting({2, 1}), {2, 2}), {0, 0, 1, 1});
  EXPECT_THROW(broadcast_to(x, {3}), ShapeError);
}

TEST_F(ShapeOpsTest, JoinsAndSplits) {
  Tensor x = counting({2, 2}), y = ones({1, 2});
  expectValues<float>(concat({x, y}), {0, 1, 2, 3, 1, 1});
  EXPECT_EQ(stack({x, x}, -1).shape(), Shape({2, 2, 2}));
  std::vector<Tensor> parts = split(counting({6}), 3);
  ASSERT_EQ(parts.size(), 3u);
  expectValues<float>(parts[1], {2, 3});
  parts = split(counting({6}), std::vector<int64_t>{1, 4});
  expectValues<float>(parts[1], {1, 2, 3});
  expectValues<float>(unstack(x, 1)[1], {1, 3});
  EXPECT_EQ(concat({tensor({1}), tensor({1.f})}).dtype(), f32);
  EXPECT_THROW(concat({x, ones({2, 3, 1})}), ShapeError);
  EXPECT_THROW(split(x, 3), ShapeError);
}

TEST_F(ShapeOpsTest, PadsAndTakesDiagonals) {
  expectValues<float>(pad(counting({2}), {{1, 2}}, 9), {9, 0, 1, 9, 9});
  Tensor x = counting({3, 4});
  expectValues<float>(diagonal(x), {0, 5, 10});
  expectValues<float>(diagonal(x, 1), {1, 6, 11});
  expectValues<float>(diagonal(x, -1), {4, 9});
  expectValues<float>(tril(counting({2, 2})), {0, 0, 2, 3});
  expectValues<float>(triu(counting({2, 2}), 1), {0, 1, 0, 0});
}

TEST_F(ShapeOpsTest, Creation) {
  expectValues<float>(zeros({2}), {0, 0});
  expectValues<int>(ones({2}, i32), {1, 1});
  expectValues<float>(full({2}, 2.5), {2.5, 2.5});
  expectValues<int>(arange(2, 8, 3), {2, 5});
  expectValues<float>(arange(0.f, 1.f, 0.25f), {0, .25, .5, .75});
  expectValues<float>(linspace(0, 1, 5), {0, .25, .5, .75, 1});
  expectValues<float>(eye(2), {1, 0, 0, 1});
  expectValues<float>(eye(2, 3, 1), {0, 1, 0, 0, 0, 1});
  expectValues<float>(one_hot(tensor({1, 0, 5}), 2), {0, 1, 1, 0, 0, 0});
  EXPECT_EQ(zeros_like(tensor({1})).dtype(), i32);
  EXPECT_THROW(zeros({-1}), ShapeError);
  EXPECT_THROW(zeros({int64_t(1) << 40, int64_t(1) << 40}), ShapeError);
  EXPECT_THROW(arange(0, 1, 0), ValueError);
}

TEST_F(ShapeOpsTest, Reductions) {
  Tensor x = counting({2, 3});
  expectValues<float>(sum(x, 1), {3, 12});
  EXPECT_EQ(sum(x, -1, true).shape(), Shape({2, 1}));
  expectValues<float>(prod(x + 1.f, 0), {4, 10, 18});
  expectValues<float>(max(x, 0), {3, 4, 5});
  expectValues<float>(min(x, {0, 1}), {0});
  expectValues<float>(mean(x), {2.5});
  expectNear(var(x), {35.0 / 12});
  expectNear(std(x, none, 1), {std::sqrt(3.5)});
  expectValues<int64_t>(argmax(x, 1), {2, 2});
  EXPECT_EQ(argmax(x).item<int64_t>(), 5);
  EXPECT_EQ(argmin(-x).item<int64_t>(), 5);
  EXPECT_EQ(argmin(tensor({3, INT32_MIN, 2})).item<int64_t>(), 1);
  expectNear(logsumexp(x), {5.4561933});
  EXPECT_EQ(sum(tensor({true, true})).item<int64_t>(), 2);
  EXPECT_TRUE(any(x).item<bool>());
  EXPECT_FALSE(all(x).item<bool>());
  EXPECT_THROW(sum(x, 2), IndexError);
  EXPECT_THROW(sum(x, {0, 0}), IndexError);
}

TEST_F(ShapeOpsTest, ReductionsOverNothing) {
  Tensor x = zeros({0, 2});
  expectValues<float>(sum(x, 0), {0, 0});
  expectValues<float>(prod(x, 0), {1, 1});
  expectValues<bool>(any(x, 0), {false, false});
  expectValues<bool>(all(x, 0), {true, true});
  EXPECT_THROW(max(x, 0), ShapeError);
}

TEST_F(ShapeOpsTest, MatmulRanks) {
  Tensor a = counting({2, 3}), v = counting({3});
  expectValues<float>(matmul(a, v), {5, 14});
  expectValues<float>(matmul(v, a.T()), {5, 14});
  EXPECT_EQ(matmul(v, v).item<float>(), 5);
  EXPECT_EQ(matmul(counting({4, 1, 2, 3}), counting({5, 3, 2})).shape(),
            Shape({4, 5, 2, 2}));
  EXPECT_EQ(matmul(a, counting({5, 3, 2})).shape(), Shape({5, 2, 2}));
  EXPECT_EQ(matmul(counting({5, 2, 3}), counting({3, 2})).shape(),
            Shape({5, 2, 2}));
  EXPECT_EQ(matmul(v, counting({5, 3, 2})).shape(), Shape({5, 2}));
  std::string text = errorOf<ShapeError>([&] { matmul(a, a); });
  EXPECT_NE(text.find("[matmul] the inner dimensions differ: f32[2,3] and "
                      "f32[2,3]"),
            std::string::npos)
      << text;
}

TEST_F(ShapeOpsTest, OtherProducts) {
  Tensor a = counting({2, 3}), v = counting({3});
  expectValues<float>(outer(counting({2}), v), {0, 0, 0, 0, 1, 2});
  expectValues<float>(vecdot(a, v), {5, 14});
  expectValues<float>(vecdot(a, a, 0), {9, 17, 29});
  expectValues<float>(tensordot(a, a.T(), 1), {5, 14, 14, 50});
  expectValues<float>(tensordot(a, a, {1}, {1}), {5, 14, 14, 50});
  EXPECT_EQ(tensordot(a, a, 2).item<float>(), 0 + 1 + 4 + 9 + 16 + 25);
  EXPECT_THROW(tensordot(a, a, 1), ShapeError);
}

TEST_F(ShapeOpsTest, Einsum) {
  Tensor a = counting({2, 3}), b = counting({3, 2});
  expectValues<float>(einsum("ij,jk->ik", {a, b}), {10, 13, 28, 40});
  expectValues<float>(einsum("ij,jk", {a, b}), {10, 13, 28, 40});
  expectValues<float>(einsum("ij->ji", {a}), {0, 3, 1, 4, 2, 5});
  expectValues<float>(einsum("ij->j", {a}), {3, 5, 7});
  EXPECT_EQ(einsum("ij,ij", {a, a}).item<float>(), 55);
  expectValues<float>(einsum("ii->i", {counting({3, 3})}), {0, 4, 8});
  EXPECT_EQ(einsum("ii", {counting({3, 3})}).item<float>(), 12);
  EXPECT_EQ(einsum("...ij,...jk->...ik", {counting({4, 2, 3}), b}).shape(),
            Shape({4, 2, 2}));
  EXPECT_EQ(einsum("ij,jk,kl->il", {a, b, a}).shape(), Shape({2, 3}));
  EXPECT_EQ(einsum("bi,bj->bij", {a, a}).shape(), Shape({2, 3, 3}));
  EXPECT_THROW(einsum("ij,jk->ik", {a, a}), ShapeError);
  EXPECT_THROW(einsum("ij->k", {a}), ShapeError);
  EXPECT_THROW(einsum("i?->i", {a}), ValueError);
}

TEST_F(ShapeOpsTest, BasicIndices) {
  Tensor x = counting({3, 4});
  expectValues<float>(x[1], {4, 5, 6, 7});
  expectValues<float>(x[-1], {8, 9, 10, 11});
  EXPECT_EQ(x.index(1, 2).item<float>(), 6);
  expectValues<float>(x.index(slice(none, none, -1), 0), {8, 4, 0});
  expectValues<float>(x.index(slice(1, 3), slice(1, none, 2)), {5, 7, 9, 11});
  expectValues<float>(x.index(ellipsis, 0), {0, 4, 8});
  EXPECT_EQ(x.index(newaxis, slice(2), ellipsis, newaxis).shape(),
            Shape({1, 2, 4, 1}));
  EXPECT_EQ(x.index(slice(5, 9)).shape(), Shape({0, 4}));
  expectValues<float>(x.index(slice(none), 3), {3, 7, 11});
  EXPECT_THROW(x[3], IndexError);
  EXPECT_THROW(x.index(0, 0, 0), IndexError);
  EXPECT_THROW(x.index(ellipsis, ellipsis), IndexError);
}

TEST_F(ShapeOpsTest, IndicesOfRecordedValues) {
  Tensor x = counting({3, 4}) * 2.f;
  expectValues<float>(x[1], {8, 10, 12, 14});
  expectValues<float>(x.index(slice(1, 3), -1), {14, 22});
  Tensor i = tensor(2) - 1;
  expectValues<float>(x[i], {8, 10, 12, 14});
}

TEST_F(ShapeOpsTest, LeadingPartsOfKnownTensorsAreViews) {
  Tensor x = counting({3, 4});
  x.eval();
  EXPECT_EQ(x[1].span<float>().data(), x.span<float>().data() + 4);
  EXPECT_EQ(x.index(slice(1, 3)).span<float>().data(),
            x.span<float>().data() + 4);
}

TEST_F(ShapeOpsTest, MasksPickElements) {
  Tensor x = counting({2, 2});
  expectValues<float>(x.index(x > 1.f), {2, 3});
  expectValues<float>(x.index(tensor({false, true})), {2, 3});
  EXPECT_EQ(x.index(x > 9.f).shape(), Shape({0}));
  EXPECT_THROW(x.index(tensor({true})), ShapeError);
}

TEST_F(ShapeOpsTest, Writes) {
  Tensor x = counting({2, 3});
  expectValues<float>(x.set(0, 9), {9, 9, 9, 3, 4, 5});
  expectValues<float>(x.set(1, -1, 9), {0, 1, 2, 3, 4, 9});
  expectValues<float>(x.set(slice(none), 1, tensor({7.f, 8.f})),
                      {0, 7, 2, 3, 8, 5});
  expectValues<float>(x.set(0, slice(none, none, 2), tensor({7.f, 8.f})),
                      {7, 1, 8, 3, 4, 5});
  expectValues<float>(x.set(0, slice(none, none, -2), tensor({7.f, 8.f})),
                      {8, 1, 7, 3, 4, 5});
  expectValues<float>(x.set(x > 3.f, 0), {0, 1, 2, 3, 0, 0});
  expectValues<float>(x.add_at(1, 10), {0, 1, 2, 13, 14, 15});
  expectValues<float>(x.add_at(ellipsis, slice(none, none, 2), 1),
                      {1, 1, 3, 4, 4, 6});
  EXPECT_THROW(x.set(0, tensor({1.f, 2.f})), ShapeError);
}

TEST_F(ShapeOpsTest, CrossEntropyAndSoftmax) {
  Tensor x = tensor({{1.f, 2.f}, {3.f, 1.f}});
  expectNear(softmax(x), {0.26894142, 0.73105858, 0.88079708, 0.11920292});
  expectNear(log_softmax(x, 0),
             {-2.1269280, -0.3132617, -0.1269280, -1.3132617});
  expectNear(cross_entropy(x, tensor({1, 0})), {(0.3132617 + 0.1269280) / 2});
  EXPECT_THROW(cross_entropy(x, tensor({1.f, 0.f})), TypeError);
  EXPECT_THROW(cross_entropy(x, tensor({1, 0, 1})), ShapeError);
  EXPECT_THROW(softmax(x, 2), IndexError);
}

TEST_F(ShapeOpsTest, Norms) {
  Tensor x = tensor({{1.f, 3.f}, {2.f, 6.f}});
  expectNear(layer_norm(x, none, none, 0), {-1, 1, -1, 1});
  expectNear(layer_norm(x, tensor({2.f, 3.f}), tensor({1.f, 0.f}), 0),
             {-1, 3, -1, 3});
  expectNear(rms_norm(x, none, 0), {1 / std::sqrt(5), 3 / std::sqrt(5),
                                    2 / std::sqrt(20), 6 / std::sqrt(20)});
  EXPECT_THROW(layer_norm(x, ones({3})), ShapeError);
}

} // namespace
} // namespace tessera
