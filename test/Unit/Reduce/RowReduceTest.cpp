// Reductions over trailing dimensions, alone and with what surrounds them.
#include "KernelMaker.h"
#include "lowering/CPU/Emit.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tessera::ir;
using namespace tessera::test;

namespace {

constexpr Reduction kAll[] = {Reduction::sum, Reduction::prod, Reduction::max,
                              Reduction::min, Reduction::argmax};

/// One reduction of the dimensions from `first` on.
void checkReduction(Reduction reduction, ArrayRef<int64_t> shape, int64_t first,
                    unsigned width, bool isReal, uint32_t seed, bool special) {
  KernelMaker k;
  Type element = !isReal ? k.integer(width) : width == 64 ? k.f64() : k.f32();
  SCOPED_TRACE(stringifyReduction(reduction).str() + " of " +
               typeText(k.type(shape, element)) + " from dimension " +
               std::to_string(first) + ", seed " + std::to_string(seed));
  k.output(reduce(reduction, k.input(shape, element),
                  llvm::to_vector(llvm::seq<int64_t>(first, shape.size()))));
  checkKernel(k.finish(KernelKind::row_reduce), seed, special);
}

TEST(RowReduce, Lengths) {
  for (int64_t cols : {1,  2,  3,  4,   5,    7,    8,    10,   16,   17,  31,
                       63, 64, 65, 100, 1000, 1023, 1024, 1025, 2048, 5000})
    checkReduction(Reduction::sum, {3, cols}, 1, 32, true, cols, false);
}

TEST(RowReduce, AllReductionsAndTypes) {
  uint32_t seed = 0;
  for (Reduction reduction : kAll)
    for (unsigned width : {1, 8, 16, 32, 64})
      for (int64_t cols : {1, 5, 70, 1100})
        for (bool isReal : {false, true})
          if (!isReal || width >= 32) {
            ++seed;
            checkReduction(reduction, {5, cols}, 1, width, isReal, seed,
                           seed % 2);
          }
}

TEST(RowReduce, SpecialNumbers) {
  for (Reduction reduction : kAll)
    for (uint32_t seed = 0; seed < 6; ++seed)
      checkReduction(reduction, {9, int64_t(1 + seed * 13)}, 1,
                     seed % 2 ? 64 : 32, true, seed * 7, true);
}

TEST(RowReduce, Shapes) {
  checkReduction(Reduction::sum, {}, 0, 32, true, 1, false);
  checkReduction(Reduction::argmax, {}, 0, 32, true, 1, false);
  checkReduction(Reduction::sum, {4, 3}, 2, 32, true, 1, false);
  checkReduction(Reduction::argmax, {4, 3}, 2, 32, true, 1, false);
  checkReduction(Reduction::sum, {4, 0}, 1, 32, true, 1, false);
  checkReduction(Reduction::prod, {4, 0}, 1, 64, true, 1, false);
  checkReduction(Reduction::sum, {0, 4}, 1, 32, true, 1, false);
  checkReduction(Reduction::max, {2, 3, 5, 7}, 2, 32, true, 1, false);
  checkReduction(Reduction::sum, {2, 3, 5, 7}, 1, 32, true, 1, false);
  checkReduction(Reduction::sum, {1, 3, 1, 50}, 0, 32, true, 1, false);
  checkReduction(Reduction::sum, {70, 1}, 1, 32, true, 1, false);
  checkReduction(Reduction::sum, {1, 70, 1}, 1, 32, true, 1, false);
  checkReduction(Reduction::argmax, {1 << 20}, 0, 32, true, 1, false);
}

TEST(RowReduce, MoreThanAMillionColumns) {
  checkReduction(Reduction::sum, {2, (1 << 20) + 5000}, 1, 32, true, 1, false);
  checkReduction(Reduction::max, {1, (1 << 20) + 1}, 1, 64, true, 1, false);
}

//===- Fused bodies ------------------------------------------------------===//

/// exp(x - max) / sum(exp(x - max)) along the last dimension.
Expr softmax(Expr x) {
  int64_t dim = x.type().getRank() - 1;
  Expr e = exp(x - expand(reduce(Reduction::max, x, dim), x.type(), dim));
  return e / expand(reduce(Reduction::sum, e, dim), x.type(), dim);
}

TEST(RowReduce, Softmax) {
  for (int64_t cols : {1, 3, 10, 64, 100, 1024, 3000, 9001}) {
    SCOPED_TRACE(cols);
    KernelMaker k;
    k.output(softmax(k.input({4, cols})));
    checkKernel(k.finish(KernelKind::row_reduce), cols);
  }
}

TEST(RowReduce, SoftmaxOfDoublesInThreeDimensions) {
  KernelMaker k;
  k.output(softmax(k.input({2, 3, 37}, k.f64())));
  checkKernel(k.finish(KernelKind::row_reduce), 1);
}

TEST(RowReduce, SoftmaxWithItsExponentials) {
  KernelMaker k;
  Expr x = k.input({5, 77});
  Expr e = exp(x - expand(reduce(Reduction::max, x, 1), x.type(), 1));
  k.output(e / expand(reduce(Reduction::sum, e, 1), x.type(), 1));
  k.output(e);
  checkKernel(k.finish(KernelKind::row_reduce), 1);
}

/// (x - mean) / sqrt(variance + eps) * weight + bias, with mean and 1 / sqrt as
/// further outputs.
void layerNorm(KernelMaker &k, ArrayRef<int64_t> shape, int64_t first) {
  Expr x = k.input(shape), weight = k.input(shape.drop_front(first)),
       bias = k.input(shape.drop_front(first));
  auto dims = llvm::to_vector(llvm::seq<int64_t>(first, shape.size()));
  auto outer = llvm::to_vector(llvm::seq<int64_t>(0, first));
  double count = ShapedType::getNumElements(shape.drop_front(first));
  Expr mean = reduce(Reduction::sum, x, dims) * (1 / count);
  Expr centred = x - expand(mean, x.type(), dims);
  Expr variance = reduce(Reduction::sum, centred * centred, dims) * (1 / count);
  Expr scale = x.with(SqrtOp::create(k.at(), k.loc(), variance.type(),
                                     (variance + 1e-5).value()));
  Expr inverse = scale.one() / scale;
  auto along = [&](Expr w) { return expand(w, x.type(), outer); };
  k.output(centred * expand(inverse, x.type(), dims) * along(weight) +
           along(bias));
  k.output(mean);
  k.output(inverse);
}

TEST(RowReduce, LayerNorm) {
  for (int64_t cols : {1, 10, 63, 768, 1500}) {
    SCOPED_TRACE(cols);
    KernelMaker k;
    layerNorm(k, {6, cols}, 1);
    checkKernel(k.finish(KernelKind::row_reduce), cols);
  }
}

TEST(RowReduce, LayerNormOverTwoDimensions) {
  KernelMaker k;
  layerNorm(k, {3, 2, 7, 9}, 2);
  checkKernel(k.finish(KernelKind::row_reduce), 5);
}

/// A weight for each channel of a row of channels and places: the row's
/// dimensions stay apart.
TEST(RowReduce, PartialBroadcastInTheRow) {
  for (int64_t inner : {5, 8, 16}) {
    SCOPED_TRACE(inner);
    KernelMaker k;
    Expr x = k.input({4, 6, inner}), weight = k.input({6});
    Expr y = x * expand(weight, x.type(), {0, 2});
    Expr total = reduce(Reduction::sum, y, {1, 2});
    k.output(y - expand(total, x.type(), {1, 2}));
    checkKernel(k.finish(KernelKind::row_reduce), inner);
  }
}

TEST(RowReduce, TransposedInput) {
  KernelMaker k;
  Expr x = k.input({33, 12}), w = k.input({12, 33});
  Expr t = x.with(TransposeOp::create(k.at(), k.loc(), w.type(), x.value(),
                                      ArrayRef<int64_t>{1, 0}));
  k.output(reduce(Reduction::sum, t * w, 1));
  checkKernel(k.finish(KernelKind::row_reduce), 2);
}

TEST(RowReduce, CrossEntropyAndItsGradient) {
  KernelMaker k;
  Expr x = k.input({13, 10}), labels = k.input({13}, k.i64());
  Expr shifted = x - expand(reduce(Reduction::max, x, 1), x.type(), 1);
  Expr e = exp(shifted);
  Expr total = reduce(Reduction::sum, e, 1);
  auto positions = x.type().clone(k.i64());
  Expr isLabel = x.with(IotaOp::create(k.at(), k.loc(), positions, 1)) ==
                 expand(labels, positions, 1);
  Expr logits = shifted - expand(log(total), x.type(), 1);
  k.output(
      -reduce(Reduction::sum, select(isLabel, logits, logits.full(-0.0)), 1));
  k.output(e / expand(total, x.type(), 1) - convert(isLabel, k.f32()));
  checkKernel(k.finish(KernelKind::row_reduce), 3);
}

TEST(RowReduce, SeveralReductionsOfSeveralTypes) {
  KernelMaker k;
  Expr x = k.input({7, 333}), n = k.input({7, 333}, k.integer(32)),
       mask = k.input({7, 333}, k.integer(1));
  k.output(reduce(Reduction::argmax, x, 1));
  k.output(reduce(Reduction::sum, n, 1));
  k.output(reduce(Reduction::max, mask, 1));
  k.output(reduce(Reduction::min, mask, 1));
  k.output(reduce(Reduction::sum, x * x, 1));
  k.output(x > expand(reduce(Reduction::max, x, 1) * 0.5, x.type(), 1));
  checkKernel(k.finish(KernelKind::row_reduce), 4);
}

TEST(RowReduce, FullReductionWithAnOutputOfElements) {
  KernelMaker k;
  Expr x = k.input({5, 41});
  Expr norm = reduce(Reduction::sum, x * x, {0, 1});
  k.output(x / expand(norm, x.type(), {0, 1}));
  k.output(norm);
  checkKernel(k.finish(KernelKind::row_reduce), 5);
}

/// Reduced values under a shape that keeps the dimension, as users write it.
TEST(RowReduce, KeptDimension) {
  KernelMaker k;
  Expr x = k.input({5, 41});
  Expr mean = reshape(reduce(Reduction::sum, x, 1) * (1.0 / 41), {5, 1});
  auto broadcast = BroadcastOp::create(k.at(), k.loc(), x.type(), mean.value(),
                                       ArrayRef<int64_t>{0, 1});
  k.output(x - x.with(broadcast));
  k.output(mean);
  checkKernel(k.finish(KernelKind::row_reduce), 6);
}

TEST(RowReduce, ScratchRowsBeyondTheStack) {
  KernelMaker k;
  Expr x = k.input({3, 20001});
  Expr e = exp(x), f = exp(-x);
  auto spread = [&](Expr v) { return expand(v, x.type(), 1); };
  Expr total = reduce(Reduction::sum, e * f, 1);
  k.output(e + f * spread(total));
  k.output(reduce(Reduction::max, f - spread(total), 1));
  checkKernel(k.finish(KernelKind::row_reduce), 7);
}

TEST(RowReduce, AnotherRowIsAnError) {
  KernelMaker k;
  Expr x = k.input({8, 8});
  auto column = BroadcastOp::create(k.at(), k.loc(), x.type(),
                                    reduce(Reduction::sum, x, 1).value(),
                                    ArrayRef<int64_t>{1});
  k.output(x + x.with(column));
  KernelOp kernel = k.finish(KernelKind::row_reduce);
  ScopedDiagnosticHandler silent(&k.getContext(),
                                 [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> module = ModuleOp::create(k.loc());
  EXPECT_TRUE(failed(tessera::lowering::cpu::emitKernel(
      kernel, "kernel", llvm::cantFail(tessera::lowering::targetFor("x86-64")),
      *module)));
}

} // namespace
