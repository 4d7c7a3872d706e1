// Every function of the API once: as part of a compiled program it gives the
// bits that it gives on its own, and recording it again does too.
#include <gtest/gtest.h>
#include <tessera/tessera.h>

#include <functional>
#include <sstream>

using namespace tessera;

namespace {

struct Case {
  const char *name;
  std::function<Tensor(Tensor)> f;
};

/// Each takes f32[4,6] with elements between 0.1 and 0.9.
std::vector<Case> cases() {
  auto whole = [](Tensor x) { return (x * 10.f).astype(i32); };
  auto isLarge = [](Tensor x) { return x > 0.5f; };
#define CASE(name, ...)                                                        \
  {                                                                            \
    #name, [=](Tensor x) -> Tensor { return __VA_ARGS__; }                     \
  }
  return {
      CASE(zeros, zeros({2}) + sum(x)),
      CASE(ones, ones({2}) + sum(x)),
      CASE(full, full({2}, x[0][0])),
      CASE(zeros_like, zeros_like(x) + x),
      CASE(ones_like, ones_like(x) + x),
      CASE(full_like, full_like(x, 2) + x),
      CASE(arange, arange(6) + whole(x)),
      CASE(linspace, linspace(0, 1, 6) + x),
      CASE(eye, eye(4, 6) + x),
      CASE(tril, tril(x)),
      CASE(triu, triu(x, 1)),
      CASE(one_hot, one_hot(whole(x), 10)),
      CASE(add, x + x),
      CASE(subtract, 1.f - x),
      CASE(multiply, x * 3.f),
      CASE(divide, x / (x + 1.f)),
      CASE(floor_divide, floor_divide(x, 0.3f)),
      CASE(remainder, x % 0.3f),
      CASE(pow, pow(x, 3) + pow(x, 0.3f) + pow(2.f, x)),
      CASE(maximum, maximum(x, 0.5f)),
      CASE(minimum, minimum(x, 0.5f)),
      CASE(negative, -x),
      CASE(abs, abs(x - 0.5f)),
      CASE(sign, sign(x - 0.5f)),
      CASE(square, square(x)),
      CASE(clip, clip(x, 0.3f, 0.6f)),
      CASE(exp, exp(x)),
      CASE(expm1, expm1(x)),
      CASE(log, log(x)),
      CASE(log1p, log1p(x)),
      CASE(log2, log2(x)),
      CASE(log10, log10(x)),
      CASE(logaddexp, logaddexp(x, 0.3f)),
      CASE(sqrt, sqrt(x)),
      CASE(rsqrt, rsqrt(x)),
      CASE(reciprocal, reciprocal(x)),
      CASE(sin, sin(x)),
      CASE(cos, cos(x)),
      CASE(tan, tan(x)),
      CASE(sinh, sinh(x)),
      CASE(cosh, cosh(x)),
      CASE(tanh, tanh(x)),
      CASE(asinh, asinh(x)),
      CASE(acosh, acosh(x + 1.f)),
      CASE(atanh, atanh(x)),
      CASE(erf, erf(x)),
      CASE(floor, floor(x * 3.f)),
      CASE(ceil, ceil(x * 3.f)),
      CASE(round, round(x * 3.f)),
      CASE(trunc, trunc(x * 3.f)),
      CASE(isnan, isnan(x)),
      CASE(isinf, isinf(x)),
      CASE(isfinite, isfinite(x)),
      CASE(equal, whole(x) == 5),
      CASE(not_equal, whole(x) != 5),
      CASE(less, x < 0.5f),
      CASE(less_equal, x <= 0.5f),
      CASE(greater, x > 0.5f),
      CASE(greater_equal, x >= 0.5f),
      CASE(logical_and, isLarge(x) && x),
      CASE(logical_or, isLarge(x) || x),
      CASE(logical_xor, logical_xor(isLarge(x), x)),
      CASE(logical_not, !isLarge(x)),
      CASE(bitwise_and, whole(x) & 3),
      CASE(bitwise_or, whole(x) | 3),
      CASE(bitwise_xor, whole(x) ^ 3),
      CASE(bitwise_invert, ~whole(x)),
      CASE(bitwise_left_shift, whole(x) << 2),
      CASE(bitwise_right_shift, whole(x) >> 1),
      CASE(where, where(isLarge(x), x, -x)),
      CASE(astype, x.astype(f64)),
      CASE(reshape, reshape(x, {3, -1})),
      CASE(flatten, flatten(x)),
      CASE(squeeze, squeeze(expand_dims(x, 1))),
      CASE(expand_dims, expand_dims(x, {0, -1})),
      CASE(permute_dims, permute_dims(x, {1, 0})),
      CASE(T, x.T()),
      CASE(matrix_transpose, matrix_transpose(x)),
      CASE(swapaxes, swapaxes(x, 0, 1)),
      CASE(moveaxis, moveaxis(x, 0, 1)),
      CASE(flip, flip(x, 1)),
      CASE(roll, roll(x, 2, 1)),
      CASE(repeat, repeat(x, 2, 0)),
      CASE(tile, tile(x, {2, 1})),
      CASE(broadcast_to, broadcast_to(x, {2, 4, 6})),
      CASE(concat, concat({x, x}, 1)),
      CASE(stack, stack({x, x}, 1)),
      CASE(split, split(x, 2, 1)[1]),
      CASE(unstack, unstack(x)[3]),
      CASE(pad, pad(x, {{1, 0}, {0, 2}})),
      CASE(diagonal, diagonal(x)),
      CASE(stop_gradient, stop_gradient(x)),
      CASE(detach, detach(x)),
      CASE(index, x.index(slice(1, 3), slice(none, none, -2))),
      CASE(index_slice, x.index(slice(none), slice(2, 5))),
      CASE(index_integer, x[-1]),
      CASE(index_tensor, x.index(tensor(2))),
      CASE(index_newaxis, x.index(ellipsis, newaxis, 3)),
      CASE(set, x.set(1, slice(2, 4), 7.f)),
      CASE(add_at, x.add_at(slice(none, none, 2), 1.f)),
      CASE(sum, sum(x, 1)),
      CASE(prod, prod(x, 0)),
      CASE(max, max(x, 1, true)),
      CASE(min, min(x)),
      CASE(mean, mean(x, {0, 1})),
      CASE(var, var(x, 1, 1)),
      CASE(std, tessera::std(x, 0)),
      CASE(any, any(isLarge(x), 0)),
      CASE(all, all(isLarge(x), 1)),
      CASE(argmax, argmax(x, 1)),
      CASE(argmin, argmin(x)),
      CASE(logsumexp, logsumexp(x, 0)),
      CASE(matmul, matmul(x, x.T())),
      CASE(tensordot, tensordot(x, x)),
      CASE(vecdot, vecdot(x, x)),
      CASE(einsum, einsum("ij,kj->ik", {x, x})),
      CASE(outer, outer(x[0], x[1])),
      CASE(softmax, softmax(x)),
      CASE(log_softmax, log_softmax(x, 0)),
      CASE(relu, relu(x - 0.5f)),
      CASE(gelu, gelu(x) + gelu(x, true)),
      CASE(silu, silu(x)),
      CASE(sigmoid, sigmoid(x)),
      CASE(softplus, softplus(x)),
      CASE(layer_norm, layer_norm(x)),
      CASE(rms_norm, rms_norm(x, ones({6}))),
      CASE(cross_entropy, cross_entropy(x, tensor({1, 0, 3, 2}))),
      CASE(normal, random::normal(random::key(1), {4, 6}) + x),
      CASE(uniform, random::uniform(random::key(1), {4, 6}) + x),
      CASE(bernoulli, random::bernoulli(random::key(1), x, {4, 6})),
      CASE(randint, random::randint(random::key(1), {6}, 0, 9) + whole(x)),
      CASE(categorical, random::categorical(random::key(1), x)),
      CASE(split_key,
           random::normal(random::split(random::key(1))[1], {6}) + x),
      CASE(grad, grad([](Tensor y) { return sum(y * exp(y)); })(x)),
      CASE(grad_of_a_value, grad(sum(x * x), x)),
      CASE(jvp,
           jvp([](Tensor y) { return exp(y); }, std::tuple{x}, std::tuple{x})
               .second),
      CASE(vjp, vjp([](Tensor y) { return exp(y); }, x).second(x)),
      CASE(hessian, hessian([](Tensor y) { return sum(y * y * y); })(x[0])),
      CASE(jacfwd, jacfwd([](Tensor y) { return y * y; })(x[0])),
      CASE(jacrev, jacrev([](Tensor y) { return y * y; })(x[0])),
      CASE(argnums, grad([](Tensor a, Tensor b) { return sum(a * b * b); },
                         argnums{1, 0})(x, x + 1.f)[0]),
  };
#undef CASE
}

std::vector<std::byte> bytesOf(const Tensor &x) {
  auto bytes = x.bytes();
  return {bytes.begin(), bytes.end()};
}

} // namespace

TEST(ApiTest, everyFunctionGivesTheSameBitsInAProgram) {
  Tensor x = random::uniform(random::key(7), {4, 6}, 0.1f, 0.9f).eval();
  for (const Case &c : cases()) {
    SCOPED_TRACE(c.name);
    Tensor once = c.f(x), again = c.f(x), compiled = jit(c.f)(x);
    EXPECT_EQ(compiled.shape(), once.shape());
    EXPECT_EQ(compiled.dtype(), once.dtype());
    EXPECT_EQ(bytesOf(compiled), bytesOf(once));
    EXPECT_EQ(bytesOf(again), bytesOf(once));
    EXPECT_GT(once.size(), 0);
  }
}

// What is recorded from memory must look at its own operands and numbers.
TEST(ApiTest, rememberedCallsTakeTheirOwnOperands) {
  Tensor a = tensor({1.f, 2.f}), b = tensor({3.f, 4.f});
  auto values = [](const Tensor &x) { return x.to_vector<float>(); };
  EXPECT_EQ(values(a - a), (std::vector<float>{0, 0}));
  EXPECT_EQ(values(a - b), (std::vector<float>{-2, -2}));
  EXPECT_EQ(values(b - a), (std::vector<float>{2, 2}));
  EXPECT_EQ(values(b - b), (std::vector<float>{0, 0}));
  for (float c : {1.f, 2.f, 3.f}) {
    EXPECT_EQ(values(a - c), (std::vector<float>{1 - c, 2 - c}));
    EXPECT_EQ(values(c - a), (std::vector<float>{c - 1, c - 2}));
  }
  EXPECT_EQ(values(where(a > 1.f, a, b)), (std::vector<float>{3, 2}));
  EXPECT_EQ(values(where(b > 3.f, b, b)), (std::vector<float>{3, 4}));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ((a.index(slice(none)) * 1.f).index(slice(1, 2)).item<float>(), 2);
  Tensor m = reshape(arange(12.f), {3, 4}) * 1.f;
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(values(m.index(slice(i, i + 1), slice(2 - i, 4 - i))),
              (std::vector<float>{float(4 * i + 2 - i), float(4 * i + 3 - i)}));
  EXPECT_EQ(values(concat({a, b})), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(values(concat({b, a})), (std::vector<float>{3, 4, 1, 2}));
  EXPECT_EQ(values(concat({a, a})), (std::vector<float>{1, 2, 1, 2}));
  EXPECT_EQ(values(pow(a, 2)), (std::vector<float>{1, 4}));
  EXPECT_EQ(values(pow(a, 3)), (std::vector<float>{1, 8}));
  EXPECT_EQ(values(squeeze(expand_dims(a, 0))), (std::vector<float>{1, 2}));
  EXPECT_EQ(squeeze(expand_dims(a, 0), std::vector<int64_t>{}).ndim(), 2);
}

TEST(ApiTest, rememberedCallsKeepHistory) {
  for (int i = 0; i < 2; ++i) {
    Tensor w = tensor({1.f, 2.f});
    w.requires_grad(true);
    sum(w * w).backward();
    EXPECT_EQ(w.grad().to_vector<float>(), (std::vector<float>{2, 4}));
    NoGrad guard;
    EXPECT_FALSE((w * w).requires_grad());
  }
  EXPECT_EQ(grad([](Tensor x) {
              Tensor y = x * x;
              return y * detach(x * x);
            })(tensor(3.f))
                .item<float>(),
            54);
}

TEST(ApiTest, printing) {
  std::ostringstream text;
  text << tensor({1.5f, 2.f}) << Shape{2, 3} << Device();
  EXPECT_EQ(text.str(), "[1.5,   2][2,3]cpu");
}

TEST(ApiTest, borrowedMemoryIsReleased) {
  float data[] = {1, 2};
  int released = 0;
  {
    Tensor x = Tensor::borrow(data, {2}, [&] { ++released; });
    EXPECT_EQ(x.span<float>().data(), data);
    EXPECT_EQ(jit([](Tensor y) { return sum(y); })(x).item<float>(), 3);
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}
