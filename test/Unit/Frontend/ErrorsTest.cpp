// Wrong arguments: an Error of the right kind that names the function, the
// types and the line.
#include "Support.h"

#include <fstream>
#include <limits>

namespace tessera {
namespace {

using ErrorsTest = FrontendTest;

/// Expects that `statement` throws E with "FILE:LINE: [op] ..." that holds
/// `text`.
#define EXPECT_ERROR(E, op, text, statement)                                   \
  do {                                                                         \
    std::string what = errorOf<E>([&] { statement; });                         \
    std::string start = std::string(__FILE__) + ":" +                          \
                        std::to_string(__LINE__) + ": [" op "] ";              \
    EXPECT_TRUE(what.starts_with(start)) << what << "\nnot\n" << start;        \
    EXPECT_NE(what.find(text), std::string::npos) << what;                     \
  } while (false)

const int64_t kHuge = int64_t(1) << 40;

TEST_F(ErrorsTest, Shapes) {
  Tensor a = ones({2, 3}), b = ones({4, 5}), v = ones({3}), s = 1.f;
  // clang-format off
  EXPECT_ERROR(ShapeError, "add", "f32[2,3] and f32[4,5]", a + b);
  EXPECT_ERROR(ShapeError, "less", "f32[2,3] and f32[4,5]", less(a, b));
  EXPECT_ERROR(ShapeError, "where", "f32[4,5]", where(a > 0.f, a, b));
  EXPECT_ERROR(ShapeError, "matmul", "f32[2,3] and f32[4,5]", matmul(a, b));
  EXPECT_ERROR(ShapeError, "matmul", "f32[] and f32[2,3]", matmul(s, a));
  EXPECT_ERROR(ShapeError, "matmul", "batch", matmul(ones({2, 3, 4}), ones({3, 4, 5})));
  EXPECT_ERROR(ShapeError, "tensordot", "f32[2,3] and f32[4,5]", tensordot(a, b, 1));
  EXPECT_ERROR(ShapeError, "vecdot", "f32[2,3] and f32[4,5]", vecdot(a, b));
  EXPECT_ERROR(ShapeError, "outer", "f32[2,3] and f32[3]", outer(a, v));
  EXPECT_ERROR(ShapeError, "einsum", "", einsum("ij,jk->ik", {a, b}));
  EXPECT_ERROR(ShapeError, "reshape", "f32[2,3] to [4,2]", reshape(a, {4, 2}));
  EXPECT_ERROR(ShapeError, "reshape", "f32[2,3]", reshape(a, {-1, -1}));
  EXPECT_ERROR(ShapeError, "broadcast_to", "f32[2,3]", broadcast_to(a, {3, 3}));
  EXPECT_ERROR(ShapeError, "concat", "f32[2,3], f32[4,5]", concat({a, b}));
  EXPECT_ERROR(ShapeError, "stack", "f32[2,3], f32[4,5]", stack({a, b}));
  EXPECT_ERROR(ShapeError, "squeeze", "f32[2,3]", squeeze(a, 0));
  EXPECT_ERROR(ShapeError, "permute_dims", "f32[2,3]", permute_dims(a, {0, 0}));
  EXPECT_ERROR(ShapeError, "T", "f32[3]", v.T());
  EXPECT_ERROR(ShapeError, "matrix_transpose", "f32[3]", matrix_transpose(v));
  EXPECT_ERROR(ShapeError, "max", "f32[0,3]", max(zeros({0, 3}), 0));
  EXPECT_ERROR(ShapeError, "argmax", "f32[0]", argmax(zeros({0})));
  EXPECT_ERROR(ShapeError, "cross_entropy", "f32[2,3] and i32[5]", cross_entropy(a, zeros({5}, i32)));
  EXPECT_ERROR(ShapeError, "tril", "f32[3]", tril(v));
  EXPECT_ERROR(ShapeError, "item", "f32[2,3]", a.item<float>());
  EXPECT_ERROR(ShapeError, "from", "[2,2]", Tensor::from(std::vector<float>{1, 2}, {2, 2}));
  EXPECT_ERROR(ShapeError, "grad", "f32[2,3]", grad(a * 2.f, a));
  EXPECT_ERROR(ShapeError, "backward", "f32[2,3]", a.backward());
  EXPECT_ERROR(ShapeError, "index", "bool[3]", a.index(v > 0.f));
  EXPECT_ERROR(ShapeError, "set", "f32[4,5]", a.set(0, b));
  // clang-format on
}

TEST_F(ErrorsTest, SizesThatOverflow) {
  // clang-format off
  EXPECT_ERROR(ShapeError, "zeros", "f32[1099511627776,1099511627776]", zeros({kHuge, kHuge}));
  EXPECT_ERROR(ShapeError, "zeros", "f32[-1]", zeros({-1}));
  EXPECT_ERROR(ShapeError, "full", "", full({kHuge, kHuge}, 1.f));
  EXPECT_ERROR(ShapeError, "eye", "", eye(kHuge, kHuge));
  EXPECT_ERROR(ShapeError, "broadcast_to", "f32[1]", broadcast_to(ones({1}), {kHuge, kHuge}));
  EXPECT_ERROR(ShapeError, "tile", "too large: f32[", tile(ones({1}), {kHuge, kHuge}));
  EXPECT_ERROR(ShapeError, "repeat", "too large: f32[", repeat(ones({2}), std::numeric_limits<int64_t>::max()));
  EXPECT_ERROR(ShapeError, "outer", "too large: f32[1099511627776,1099511627776]", outer(broadcast_to(ones({1}), {kHuge}), broadcast_to(ones({1}), {kHuge})));
  EXPECT_ERROR(ShapeError, "matmul", "too large: f32[1099511627776,1099511627776]", matmul(broadcast_to(ones({1, 1}), {kHuge, 1}), broadcast_to(ones({1, 1}), {1, kHuge})));
  EXPECT_ERROR(ShapeError, "add", "too large: f32[1099511627776,1099511627776]", broadcast_to(ones({1, 1}), {kHuge, 1}) + broadcast_to(ones({1, 1}), {1, kHuge}));
  EXPECT_ERROR(ShapeError, "pad", "f32[2]", pad(ones({2}), {{kHuge, std::numeric_limits<int64_t>::max()}}));
  EXPECT_ERROR(ShapeError, "one_hot", "", one_hot(zeros({4}, i32), std::numeric_limits<int64_t>::max()));
// A sanitizer ends the process instead.
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
  EXPECT_ERROR(OutOfMemory, "eval", "", zeros({kHuge, 1 << 10}).eval());
#endif
  // clang-format on
}

TEST_F(ErrorsTest, DTypes) {
  Tensor f = ones({2}), i = ones({2}, i32), b = f > 0.f;
  Tensor u = Tensor::from(std::vector<uint8_t>{1, 2}, {2});
  // clang-format off
  EXPECT_ERROR(TypeError, "add", "bool[2]", b + b);
  EXPECT_ERROR(TypeError, "add", "u8[2]", f + u);
  EXPECT_ERROR(TypeError, "exp", "u8[2]", exp(u));
  EXPECT_ERROR(TypeError, "relu", "bool[2]", relu(b));
  EXPECT_ERROR(TypeError, "bitwise_and", "f32[2]", f & f);
  EXPECT_ERROR(TypeError, "zeros", "complex64", zeros({2}, complex64));
  EXPECT_ERROR(TypeError, "astype", "u8", f.astype(u8));
  EXPECT_ERROR(TypeError, "item", "f32[]", sum(f).item<int>());
  EXPECT_ERROR(TypeError, "span", "f32[2]", f.span<double>());
  EXPECT_ERROR(TypeError, "requires_grad", "i32[2]", i.requires_grad(true));
  EXPECT_ERROR(TypeError, "grad", "i32[2]", grad(sum(f * i), i));
  EXPECT_ERROR(TypeError, "one_hot", "f32[2]", one_hot(f, 3));
  EXPECT_ERROR(TypeError, "cross_entropy", "f32[2]", cross_entropy(ones({2, 3}), f));
  EXPECT_ERROR(TypeError, "add_at", "bool[2]", b.add_at(0, true));
  // clang-format on
}

TEST_F(ErrorsTest, AxesAndIndices) {
  Tensor a = ones({2, 3});
  // clang-format off
  EXPECT_ERROR(IndexError, "sum", "axis 2", sum(a, 2));
  EXPECT_ERROR(IndexError, "sum", "axis -3", sum(a, -3));
  EXPECT_ERROR(IndexError, "sum", "axis 1 is named twice", sum(a, {1, -1}));
  EXPECT_ERROR(IndexError, "softmax", "axis 5", softmax(a, 5));
  EXPECT_ERROR(IndexError, "concat", "axis 2", concat({a, a}, 2));
  EXPECT_ERROR(IndexError, "stack", "axis 4", stack({a, a}, 4));
  EXPECT_ERROR(IndexError, "expand_dims", "axis 7", expand_dims(a, 7));
  EXPECT_ERROR(IndexError, "flip", "axis 2", flip(a, 2));
  EXPECT_ERROR(IndexError, "index", "index 2 is outside a dimension of size 2: f32[2,3]", a[2]);
  EXPECT_ERROR(IndexError, "index", "f32[2,3]", a.index(0, -4));
  EXPECT_ERROR(IndexError, "index", "f32[2,3]", a.index(0, 0, 0));
  EXPECT_ERROR(IndexError, "index", "ellipsis", a.index(ellipsis, ellipsis));
  EXPECT_ERROR(ValueError, "index", "step", a.index(slice(none, none, 0)));
  EXPECT_ERROR(IndexError, "set", "f32[2,3]", a.set(2, 0.f));
  EXPECT_ERROR(IndexError, "split", "axis 2", split(a, 2, 2));
  // clang-format on
  EXPECT_THROW(a.shape(2), IndexError);
}

TEST_F(ErrorsTest, Values) {
  Tensor none_, a = ones({2}), i = ones({2}, i32);
  // clang-format off
  EXPECT_ERROR(ValueError, "add", "empty tensor", a + none_);
  EXPECT_ERROR(ValueError, "eval", "empty", none_.eval());
  EXPECT_ERROR(ValueError, "sum", "empty tensor", sum(none_));
  EXPECT_ERROR(ValueError, "concat", "empty tensor", concat({a, none_}));
  EXPECT_ERROR(ValueError, "concat", "no tensors", concat({}));
  EXPECT_ERROR(ValueError, "pow", "i32[2]", pow(i, -1));
  EXPECT_ERROR(ValueError, "add", "does not fit i8", ones({2}, i8) + 1000);
  EXPECT_ERROR(ValueError, "arange", "step", arange(0, 5, 0));
  EXPECT_ERROR(ValueError, "linspace", "negative", linspace(0, 1, -2));
  EXPECT_ERROR(ValueError, "repeat", "negative", repeat(a, -1));
  EXPECT_ERROR(ShapeError, "split", "f32[5]", split(ones({5}), 2));
  EXPECT_ERROR(ShapeError, "einsum", "f32[2]", einsum("i?j", {a}));
  EXPECT_ERROR(ValueError, "grad", "never depended", grad(sum(a), i * 1.f));
  EXPECT_ERROR(ValueError, "backward", "requires_grad", sum(a).backward());
  // clang-format on
}

// What is refused once must be refused again, also if a call like it was fine.
TEST_F(ErrorsTest, AreTheSameTheSecondTime) {
  Tensor a = ones({2}, i8);
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW(a + 1000, ValueError);
    expectValues<int>(a + 100, {101, 101});
    EXPECT_THROW(expand_dims(a, none), ValueError);
    EXPECT_EQ(expand_dims(a, std::vector<int64_t>{}).ndim(), 1);
    EXPECT_THROW(reshape(a, {3}), ShapeError);
  }
}

TEST_F(ErrorsTest, Files) {
  std::string path = testing::TempDir() + "errors-test";
  // clang-format off
  EXPECT_ERROR(IoError, "load", "missing", io::load(path + "-missing"));
  EXPECT_ERROR(IoError, "load_npy", "missing", io::load_npy(path + "-missing"));
  EXPECT_ERROR(IoError, "load_npz", "missing", io::load_npz(path + "-missing"));
  EXPECT_ERROR(IoError, "save_npy", "", io::save_npy("/no-such-folder/x.npy", ones({2})));
  // clang-format on
  io::save_npy(path, ones({100}));
  std::string whole;
  {
    std::ifstream in(path, std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(in), {});
  }
  std::ofstream(path, std::ios::binary) << whole.substr(0, 300);
  EXPECT_ERROR(IoError, "load_npy", "f32[100]", io::load_npy(path));
  EXPECT_ERROR(IoError, "load", "errors-test", io::load(path));
  EXPECT_ERROR(IoError, "load_npz", "errors-test", io::load_npz(path));
  std::remove(path.c_str());
}

} // namespace
} // namespace tessera
