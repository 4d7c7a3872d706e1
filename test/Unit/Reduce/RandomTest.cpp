// Random bodies: elementwise ops, broadcasts and reductions that depend on each
// other, checked against the definition op by op.
#include "KernelMaker.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace tessera::ir;
using namespace tessera::test;

namespace {

/// Grows a body from values of the whole space and of the reduced shape.
class Generator {
public:
  Generator(uint32_t seed, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims)
      : random(seed), space(shape), dims(dims) {
    for (int64_t i = 0; i < int64_t(shape.size()); ++i)
      if (!llvm::is_contained(dims, i)) {
        kept.push_back(i);
        reduced.push_back(shape[i]);
      }
    whole.push_back(k.input(space));
    whole.push_back(k.input(space));
    results.push_back(k.input(reduced));
  }

  int64_t below(int64_t count) { return random() % count; }
  Expr pick(SmallVector<Expr> &values) { return values[below(values.size())]; }

  /// An input spread over some of the space's dimensions.
  Expr spreadInput() {
    SmallVector<int64_t> own, repeated;
    SmallVector<int64_t> sizes;
    for (int64_t i = 0; i < int64_t(space.size()); ++i)
      if (below(2)) {
        own.push_back(i);
        sizes.push_back(space[i]);
      } else {
        repeated.push_back(i);
      }
    return expand(k.input(sizes), whole[0].type(), repeated);
  }

  Expr elementwise(SmallVector<Expr> &values) {
    Expr x = pick(values), y = pick(values);
    switch (below(8)) {
    case 0:
      return x + y;
    case 1:
      return x - y;
    case 2:
      return x * y;
    case 3:
      return x / y;
    case 4:
      return select(x > y, x, -y);
    case 5:
      return exp(x * 0.25);
    case 6:
      return x.with(SqrtOp::create(k.at(), k.loc(), x.type(), x.value()));
    default:
      return x.with(
          MaxOp::create(k.at(), k.loc(), x.type(), x.value(), y.value()));
    }
  }

  Expr reduction() {
    static constexpr Reduction kinds[] = {Reduction::sum, Reduction::prod,
                                          Reduction::max, Reduction::min};
    return reduce(kinds[below(4)], pick(whole), dims);
  }

  KernelMaker k;
  std::mt19937 random;
  SmallVector<int64_t> space, dims, kept, reduced;
  SmallVector<Expr> whole, results;
};

TEST(RandomReduce, Rows) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const int64_t sizes[] = {1, 2, 5, 8, 13, 33, 64, 100, 1030};
    SmallVector<int64_t> shape{int64_t(1 + random() % 5)}, dims{1};
    shape.push_back(sizes[random() % std::size(sizes)]);
    if (seed % 2) {
      shape.push_back(1 + random() % 20);
      dims.push_back(2);
    }
    Generator g(seed, shape, dims);
    for (int64_t i = 2 + g.below(10); i-- > 0;)
      switch (g.below(5)) {
      case 0:
        g.results.push_back(g.reduction());
        break;
      case 1:
        g.whole.push_back(expand(g.pick(g.results), g.whole[0].type(), dims) -
                          g.pick(g.whole));
        break;
      case 2:
        g.results.push_back(g.elementwise(g.results));
        break;
      case 3:
        g.whole.push_back(g.spreadInput() * g.pick(g.whole));
        break;
      default:
        g.whole.push_back(g.elementwise(g.whole));
      }
    g.results.push_back(g.reduction());
    g.k.output(g.results.back());
    g.k.output(g.elementwise(g.whole));
    if (g.below(2))
      g.k.output(g.pick(g.whole) + g.pick(g.whole));
    if (g.below(2))
      g.k.output(g.elementwise(g.results));
    checkKernel(g.k.finish(KernelKind::row_reduce), seed, seed % 3 == 0);
  }
}

TEST(RandomReduce, Columns) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    SmallVector<int64_t> shape, dims;
    for (int64_t rank = 1 + random() % 4; rank-- > 0;)
      shape.push_back(1 + random() % 17);
    if (seed % 4 == 0)
      shape[random() % shape.size()] = 1100;
    for (size_t i = 0; i < shape.size(); ++i)
      if (random() % 2)
        dims.push_back(i);
    Generator g(seed, shape, dims);
    for (int64_t i = g.below(5); i-- > 0;)
      g.whole.push_back(g.below(2) ? g.spreadInput() * g.pick(g.whole)
                                   : g.elementwise(g.whole));
    g.results.push_back(g.reduction());
    if (g.below(2))
      g.results.push_back(g.reduction());
    g.k.output(g.results.back());
    for (int64_t i = g.below(4); i-- > 0;)
      g.results.push_back(g.elementwise(g.results));
    g.k.output(g.results.back() + g.results[1]);
    checkKernel(g.k.finish(KernelKind::col_reduce), seed, seed % 3 == 0);
  }
}

} // namespace
