// Reductions over leading, all and mixed dimensions.
#include "KernelMaker.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace tessera::ir;
using namespace tessera::test;

namespace {

constexpr Reduction kAll[] = {Reduction::sum, Reduction::prod, Reduction::max,
                              Reduction::min, Reduction::argmax};

void checkReduction(Reduction reduction, ArrayRef<int64_t> shape,
                    ArrayRef<int64_t> dims, unsigned width = 32,
                    bool isReal = true, uint32_t seed = 1,
                    bool special = false) {
  KernelMaker k;
  Type element = !isReal ? k.integer(width) : width == 64 ? k.f64() : k.f32();
  std::string text = stringifyReduction(reduction).str() + " of " +
                     typeText(k.type(shape, element)) + " over";
  for (int64_t dim : dims)
    text += " " + std::to_string(dim);
  SCOPED_TRACE(text + ", seed " + std::to_string(seed));
  k.output(reduce(reduction, k.input(shape, element), dims));
  checkKernel(k.finish(KernelKind::col_reduce), seed, special);
}

TEST(ColReduce, Rows) {
  for (int64_t rows : {1, 2, 3, 4, 5, 63, 64, 65, 1000, 1023, 1024, 1025, 3001})
    checkReduction(Reduction::sum, {rows, 19}, {0}, 32, true, rows);
}

TEST(ColReduce, Columns) {
  for (int64_t columns : {1, 2, 3, 7, 8, 9, 31, 500, 1027, 4000})
    checkReduction(Reduction::sum, {37, columns}, {0}, 32, true, columns);
}

TEST(ColReduce, Everything) {
  for (int64_t size : {1, 5, 64, 1000, 1024, 1025, 4097, 100000})
    checkReduction(Reduction::sum, {size}, {0}, 32, true, size);
  checkReduction(Reduction::sum, {3, 5, 7}, {0, 1, 2});
  checkReduction(Reduction::sum, {1023, 1025}, {0, 1});
  checkReduction(Reduction::max, {1023, 1025}, {0, 1}, 64);
  checkReduction(Reduction::sum, {(1 << 20) + 4321}, {0});
}

TEST(ColReduce, AllReductionsAndTypes) {
  uint32_t seed = 0;
  for (Reduction reduction : kAll)
    for (unsigned width : {1, 8, 16, 32, 64})
      for (int64_t rows : {3, 70, 1100})
        for (bool isReal : {false, true})
          if (!isReal || width >= 32) {
            ++seed;
            checkReduction(reduction, {rows, 6}, {0}, width, isReal, seed,
                           seed % 2);
            checkReduction(reduction, {rows, 6}, {0, 1}, width, isReal, seed,
                           seed % 2);
          }
}

TEST(ColReduce, SpecialNumbers) {
  for (Reduction reduction : kAll)
    for (uint32_t seed = 0; seed < 6; ++seed)
      checkReduction(reduction, {int64_t(1 + seed * 13), 20}, {0},
                     seed % 2 ? 64 : 32, true, seed * 5, true);
}

TEST(ColReduce, Shapes) {
  checkReduction(Reduction::sum, {}, {});
  checkReduction(Reduction::sum, {0}, {0});
  checkReduction(Reduction::sum, {0, 5}, {0});
  checkReduction(Reduction::prod, {0, 5}, {0});
  checkReduction(Reduction::sum, {5, 0}, {0});
  checkReduction(Reduction::sum, {5, 0, 3}, {1});
  checkReduction(Reduction::sum, {2, 3, 4}, {0, 2});
  checkReduction(Reduction::sum, {2, 3, 4}, {1});
  checkReduction(Reduction::argmax, {6, 7, 8}, {0, 2});
  checkReduction(Reduction::argmax, {6, 7, 8}, {0, 1});
  checkReduction(Reduction::sum, {40, 3, 16}, {0, 2});
  checkReduction(Reduction::sum, {40, 3, 7, 7}, {0, 2, 3});
  checkReduction(Reduction::sum, {3, 4, 5, 6}, {0, 2});
  checkReduction(Reduction::sum, {3, 4, 5, 1}, {1, 3});
  checkReduction(Reduction::sum, {1, 9, 1}, {0, 1});
  checkReduction(Reduction::sum, {2, 100000}, {1});
  checkReduction(Reduction::sum, {300, 2, 40}, {0, 2});
}

TEST(ColReduce, RandomShapes) {
  std::mt19937 random(11);
  for (int i = 0; i < 40; ++i) {
    SmallVector<int64_t> shape, dims;
    int64_t rank = random() % 5;
    for (int64_t dim = 0; dim < rank; ++dim) {
      shape.push_back(1 + random() % (rank > 2 ? 9 : 90));
      if (random() % 2)
        dims.push_back(dim);
    }
    checkReduction(kAll[random() % std::size(kAll)], shape, dims,
                   random() % 2 ? 32 : 64, random() % 3 > 0, i, i % 2);
  }
}

/// The mean of squared differences, with a bias spread over the rows.
TEST(ColReduce, Loss) {
  for (int64_t columns : {6, 16, 33}) {
    SCOPED_TRACE(columns);
    KernelMaker k;
    Expr x = k.input({100, columns}), bias = k.input({columns}),
         y = k.input({100, columns});
    Expr d = x + expand(bias, x.type(), 0) - y;
    k.output(reduce(Reduction::sum, d * d, {0, 1}) * (1.0 / (100 * columns)));
    checkKernel(k.finish(KernelKind::col_reduce), columns);
  }
}

/// A bias gradient and the step that uses it.
TEST(ColReduce, Step) {
  for (int64_t columns : {5, 24, 700}) {
    SCOPED_TRACE(columns);
    KernelMaker k;
    Expr x = k.input({130, columns}), y = k.input({130, columns}),
         old = k.input({columns}), speed = k.input({});
    Expr gradient = reduce(Reduction::sum, select(y > 0.0, x, x.zero()), 0);
    k.output(old - gradient * expand(speed, gradient.type(), 0));
    k.output(gradient);
    checkKernel(k.finish(KernelKind::col_reduce), columns);
  }
}

TEST(ColReduce, SeveralReductions) {
  KernelMaker k;
  Expr x = k.input({1300, 21});
  Expr total = reduce(Reduction::sum, x, 0),
       squares = reduce(Reduction::sum, x * x, 0);
  k.output(squares - total * total);
  k.output(reduce(Reduction::argmax, x, 0));
  k.output(reduce(Reduction::max, x, 0));
  checkKernel(k.finish(KernelKind::col_reduce), 3);
}

/// The result under another shape, before and after an op of the epilogue.
TEST(ColReduce, ReshapedResult) {
  KernelMaker k;
  Expr x = k.input({50, 3, 5}), w = k.input({15});
  Expr total = reduce(Reduction::sum, x, 0);
  k.output(reshape(total, {1, 15}));
  k.output(reshape(total, {15}) * w);
  checkKernel(k.finish(KernelKind::col_reduce), 4);
}

TEST(ColReduce, TransposedOperand) {
  KernelMaker k;
  Expr x = k.input({12, 50}), w = k.input({50, 12});
  Expr t = x.with(TransposeOp::create(k.at(), k.loc(), w.type(), x.value(),
                                      ArrayRef<int64_t>{1, 0}));
  k.output(reduce(Reduction::sum, t * w, 0));
  checkKernel(k.finish(KernelKind::col_reduce), 5);
}

} // namespace
