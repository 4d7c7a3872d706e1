// lower(): every stage of a function's program, its plan explained, its cost.
#include "Support.h"

namespace tessera {
namespace {

struct Params {
  Tensor w, b;
  TESSERA_TREE(Params, w, b)
};

Tensor dense(Params p, Tensor x) { return relu(matmul(x, p.w) + p.b); }

Lowered lowerDense() {
  return lower(dense, Params{zeros({8, 16}), zeros({16})}, zeros({4, 8}));
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

size_t count(const std::string &text, const std::string &part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != text.npos;
       at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(LowerTest, showsEveryStage) {
  Lowered l = lowerDense();
  EXPECT_TRUE(contains(l.text(Stage::trace), "tessera.stage = \"trace\""));
  EXPECT_TRUE(contains(l.text(Stage::trace), "tessera.dot_general"));
  EXPECT_FALSE(contains(l.text(Stage::tensor), "tessera.kernel"));
  EXPECT_TRUE(contains(l.text(Stage::kernels), "tessera.kernel gemm"));
  EXPECT_TRUE(contains(l.text(Stage::plan), "#tessera.place<result, 0>"));
  EXPECT_TRUE(contains(l.text(Stage::loops), "// kernel gemm_0\n"));
  EXPECT_TRUE(contains(l.text(Stage::loops), "scf.for"));
  EXPECT_TRUE(contains(l.text(Stage::llvm), "; kernel gemm_0\n"));
  EXPECT_TRUE(contains(l.text(Stage::llvm), "define void @gemm"));
  EXPECT_TRUE(contains(l.text(Stage::code), "# kernel gemm_0\n"));
  EXPECT_TRUE(contains(l.text(Stage::code), "retq"));
}

TEST(LowerTest, showsTheUsersLinesAndNoUnknownOnes) {
  Lowered l = lowerDense();
  for (Stage stage : {Stage::trace, Stage::tensor, Stage::kernels, Stage::plan,
                      Stage::loops}) {
    EXPECT_TRUE(contains(l.text(stage), "LowerTest.cpp\":12:"));
    EXPECT_FALSE(contains(l.text(stage), "loc(unknown)")) << int(stage);
  }
}

TEST(LowerTest, countsWorkAndMemory) {
  Lowered product = lower([](Tensor a, Tensor b) { return matmul(a, b); },
                          zeros({3, 5}), zeros({5, 7}));
  EXPECT_EQ(product.cost().flops, 2 * 3 * 5 * 7);
  EXPECT_EQ(product.cost().bytes, 4 * (3 * 5 + 5 * 7 + 3 * 7));
  // Two elementwise functions and a reduction; in one kernel or several, which
  // the bytes depend on.
  Lowered reduction =
      lower([](Tensor a) { return sum(exp(a) * a, 1); }, zeros({6, 10}));
  EXPECT_EQ(reduction.cost().flops, 3 * 60);
  EXPECT_EQ(reduction.cost().bytes, 4 * (60 + 6));
  // Integers are no floating-point work, views no work at all.
  Lowered none = lower(
      [](Tensor a, Tensor b) { return std::pair(a + a, matrix_transpose(b)); },
      ones({8}, i32), ones({2, 4}));
  EXPECT_EQ(none.cost().flops, 0);
  EXPECT_EQ(none.cost().bytes, 4 * (8 + 8 + 8 + 8));
}

TEST(LowerTest, explainsThePlan) {
  std::string page =
      lower(
          [](Params p, Tensor x) {
            Tensor y = dense(p, x);
            return std::pair(y, softmax(matmul(y, matrix_transpose(y)), -1));
          },
          Params{zeros({8, 16}), zeros({16})}, zeros({4, 8}))
          .explain();
  EXPECT_TRUE(contains(page, "3 arguments, 2 results, 3 kernels, ")) << page;
  EXPECT_TRUE(contains(page, "\ngemm_0 (")) << page;
  EXPECT_TRUE(contains(page, "LowerTest.cpp:12")) << page;
  EXPECT_TRUE(contains(page, "computes dot_general, ")) << page;
  EXPECT_TRUE(contains(page, "reads    f32[16], argument ")) << page;
  EXPECT_TRUE(contains(page, "writes   f32[4,16], result 0\n")) << page;
  EXPECT_TRUE(contains(page, "writes   f32[4,4], arena at 0\n")) << page;
  EXPECT_TRUE(contains(page, "because  fused ")) << page;
  EXPECT_TRUE(contains(page, "because  apart from dot_general: ")) << page;
}

TEST(LowerTest, equalKernelsComeOnce) {
  Lowered l =
      lower([](Tensor a, Tensor b) { return std::pair(exp(a), exp(b)); },
            zeros({3}), zeros({3}));
  ASSERT_EQ(count(l.text(Stage::kernels), "tessera.kernel"), 2u);
  EXPECT_EQ(count(l.text(Stage::loops), "// kernel "), 1u);
  EXPECT_TRUE(contains(l.explain(), "loop_1 (")) << l.explain();
  EXPECT_TRUE(contains(l.explain(), "the same code as loop_0"));
}

TEST(LowerTest, takesWhatJitTakes) {
  // Numbers, values of the signature, modules, variables, captured tensors.
  Variable count = 1.f;
  Tensor captured = tensor({1.f, 2.f}) * 3.f;
  int calls = 0;
  auto f = [&](Tensor x, int power) {
    ++calls;
    for (int i = 0; i < power; ++i)
      x = x * captured;
    count = count + 1.f;
    return x;
  };
  Lowered l = lower(f, 2.f, 3);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(count.item<float>(), 1); // traced, not run
  EXPECT_EQ(::tessera::count(l.text(Stage::trace), "tessera.mul"), 3u);
  EXPECT_TRUE(contains(l.explain(), "2 results")) << l.explain();
  nn::Linear layer(4, 2);
  EXPECT_TRUE(contains(
      lower([](nn::Linear &m, Tensor x) { return m(x); }, layer, zeros({1, 4}))
          .text(Stage::trace),
      "tessera.dot_general"));
  // The same from a jit function, and copies are the same program.
  Lowered copy = jit(f).lower(2.f, 3);
  EXPECT_EQ(copy.cost().flops, l.cost().flops);
}

TEST(LowerTest, refusesWhatIsNoProgram) {
  EXPECT_TRUE(
      contains(errorOf<ValueError>([] { lower([](Tensor) {}, zeros({2})); }),
               "LowerTest.cpp:"));
  EXPECT_TRUE(contains(errorOf<ShapeError>([] {
                         lower([](Tensor a) { return matmul(a, a); },
                               zeros({2, 3}));
                       }),
                       "f32[2,3] and f32[2,3]"));
}

TEST(LowerTest, refusesWhatTheEnvironmentMustNotSay) {
  auto f = [](Tensor a) { return exp(a); };
  for (auto [name, value, text] :
       {std::tuple("TESSERA_FUSE", "2", "TESSERA_FUSE=2: expected 0 or 1"),
        std::tuple("TESSERA_TF32", "on!", "TESSERA_TF32=on!: expected 0 or 1"),
        std::tuple("TESSERA_CPU", "pdp11", "unknown CPU 'pdp11'")}) {
    setenv(name, value, 1);
    std::string error = errorOf<ValueError>([&] { lower(f, zeros({2})); });
    EXPECT_TRUE(contains(error, text)) << error;
    unsetenv(name);
  }
}

} // namespace
} // namespace tessera
