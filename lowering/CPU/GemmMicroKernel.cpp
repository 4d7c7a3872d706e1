// Register blocks: a private function for each distinct block that runs the
// chains of k and the epilogue.
#include "lowering/CPU/GemmBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
namespace tessera::lowering::cpu {
namespace {

/// Builds the function of one register block. Accumulators are separate native
/// vectors, carried by the loop over k.
class RegisterBlockBuilder {
public:
  RegisterBlockBuilder(const GemmEmission &e, RegisterBlock block,
                       ReadStrides strides, FunctionBuilder &f)
      : e(e), block(block), strides(strides), f(f), type(e.vectorType()),
        a(f.arg(0)), b(f.arg(1)), aFirst(f.arg(2)), bFirst(f.arg(3)),
        batch(f.arg(4)), row(f.arg(5)), column(f.arg(6)),
        buffers(f.args(7, e.kernel.buffers.size())) {
    if (!e.stepsOverK())
      return;
    unsigned next = 7 + buffers.size();
    partials = f.arg(next);
    partialFirst = f.arg(next + 1);
    kFirst = f.arg(next + 2);
  }

  void build() {
    if (e.plan.prefetchA)
      prefetchNextRows();
    if (e.plan.prefetchC && e.kernel.result >= 0)
      prefetchResult();
    const int64_t k = e.kernel.shape.k;
    bool chunked = isa<FloatType>(e.element()) && k > kProductChunk;
    if (e.stepsOverK())
      return buildStep(chunked);
    epilogue(chunked ? allChunks()
                     : chain(f.index(0), f.index(k), splats(0.0)));
  }

private:
  int64_t count() const { return block.rows * block.vectors; }
  Values splats(double value) { return Values(count(), f.splat(type, value)); }

  /// Asks for a share of the rows that the tile comes to next: each column
  /// block of the tile asks for another share.
  void prefetchNextRows() {
    int64_t line = 64 / e.elementBytes();
    int64_t lines = llvm::divideCeil(e.plan.kBlock, line);
    int64_t blocks = llvm::divideCeil(e.partialColumns(), e.blockColumns());
    int64_t share = llvm::divideCeil(lines, blocks);
    Value part = f.div(f.rem(column, e.plan.tileColumns), e.blockColumns());
    Value at = f.add(aFirst, f.mul(part, share * line));
    for (int64_t r = 0; r < block.rows; ++r)
      for (int64_t l = 0; l < share; ++l)
        memref::PrefetchOp::create(
            f.b, f.loc, a,
            ValueRange(f.add(at, (block.rows + r) * strides.aRow + l * line)),
            /*isWrite=*/false, /*localityHint=*/2, /*isDataCache=*/true);
  }

  void prefetchResult() {
    const GemmShape &s = e.kernel.shape;
    Value c = e.flatBuffer(f, buffers[e.kernel.result]);
    Value at = f.add(f.mul(f.add(f.mul(batch, s.m), row), s.n), column);
    int64_t line = 64 / e.elementBytes();
    int64_t columns = (block.vectors - 1) * e.plan.lanes + block.tail;
    for (int64_t r = 0; r < block.rows; ++r)
      for (int64_t j = 0; j < columns; j += line)
        memref::PrefetchOp::create(f.b, f.loc, c,
                                   ValueRange(f.add(at, r * s.n + j)),
                                   /*isWrite=*/true, /*localityHint=*/2,
                                   /*isDataCache=*/true);
  }

  /// Continues the chains of every element over [begin, end).
  Values chain(Value begin, Value end, ValueRange init) {
    return f.loop(begin, end, 1, init, [&](Value k, ValueRange accumulators) {
      Value aAt = f.add(aFirst, f.mul(k, strides.aK));
      Value bAt = f.add(bFirst, f.mul(k, strides.bK));
      Values bs, results;
      for (int64_t v = 0; v < block.vectors; ++v)
        bs.push_back(loadB(bAt, v));
      if (e.plan.prefetchB)
        memref::PrefetchOp::create(
            f.b, f.loc, b, ValueRange(f.add(bAt, e.plan.prefetchB)),
            /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
      for (int64_t r = 0; r < block.rows; ++r) {
        Value x = f.broadcast(type, a, f.add(aAt, r * strides.aRow));
        for (int64_t v = 0; v < block.vectors; ++v)
          results.push_back(f.multiplyAdd(
              x, bs[v], accumulators[r * block.vectors + v], e.target.fma));
      }
      return results;
    });
  }

  /// Packed panels are padded with zeros; B itself is read by mask at its end.
  Value loadB(Value at, int64_t v) {
    Value index = f.add(at, v * e.plan.lanes);
    bool partial = v + 1 == block.vectors && block.tail < e.plan.lanes;
    if (!partial || e.plan.packB)
      return f.load(type, b, index);
    Value mask = f.mask(block.tail, e.plan.lanes);
    return vector::MaskedLoadOp::create(f.b, f.loc, type, b, ValueRange(index),
                                        mask, f.zero(type));
  }

  /// The sum of the chunks' chains. It starts at -0, so that the first chunk's
  /// result stays what it is.
  Values allChunks() {
    Value k = f.index(e.kernel.shape.k);
    return f.loop(f.index(0), k, kProductChunk, splats(-0.0),
                  [&](Value begin, ValueRange totals) {
                    Value end = f.min(f.add(begin, kProductChunk), k);
                    return sums(totals, chain(begin, end, splats(0.0)));
                  });
  }

  Values sums(ValueRange xs, ValueRange ys) {
    Values results;
    for (auto [x, y] : llvm::zip_equal(xs, ys))
      results.push_back(f.addVectors(x, y));
    return results;
  }

  /// One step of `kBlock`: takes up the chain and the total where the step
  /// before left them.
  void buildStep(bool chunked) {
    const int64_t step = e.plan.kBlock, k = e.kernel.shape.k;
    bool wholeChunks = chunked && step == kProductChunk;
    Value last = f.index(k);
    Value end = f.min(f.add(kFirst, step), last);
    int64_t period = chunked ? kProductChunk : k;
    Values init = splats(0.0);
    if (!wholeChunks)
      init = f.choose(
          f.equal(f.rem(kFirst, period), 0), [&] { return splats(0.0); },
          [&] { return loadPartials(0); });
    Values chains = chain(f.index(0), f.sub(end, kFirst), init);
    if (!chunked) {
      finishOr(end, chains, 0);
      return;
    }
    if (wholeChunks) {
      finishOr(end, addTotals(chains, kProductChunk), 1);
      return;
    }
    Value atEnd = arith::OrIOp::create(
        f.b, f.loc, f.equal(f.rem(end, kProductChunk), 0), f.equal(end, k));
    auto op = scf::IfOp::create(f.b, f.loc, atEnd, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(f.b);
    f.b.setInsertionPointToStart(op.elseBlock());
    storePartials(chains, 0);
    f.b.setInsertionPointToStart(op.thenBlock());
    finishOr(end, addTotals(chains, kProductChunk), 1);
  }

  /// The total so far plus this chunk's chains; the first `period` steps of k
  /// have no total.
  Values addTotals(ValueRange chains, int64_t period) {
    Value isFirst = arith::CmpIOp::create(f.b, f.loc, arith::CmpIPredicate::ult,
                                          kFirst, f.index(period));
    Values before = f.choose(
        isFirst, [&] { return splats(-0.0); }, [&] { return loadPartials(1); });
    return sums(before, chains);
  }

  /// The epilogue if k has ended, else saves `values` in partial results
  /// `which`.
  void finishOr(Value end, ValueRange values, int64_t which) {
    auto op = scf::IfOp::create(f.b, f.loc, f.equal(end, e.kernel.shape.k),
                                /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(f.b);
    f.b.setInsertionPointToStart(op.elseBlock());
    storePartials(values, which);
    f.b.setInsertionPointToStart(op.thenBlock());
    epilogue(Values(values));
  }

  Value partialAt(int64_t which, int64_t r, int64_t v) {
    int64_t half = cast<MemRefType>(partials.getType()).getDimSize(0) / 2;
    return f.add(partialFirst,
                 which * half + r * e.partialColumns() + v * e.plan.lanes);
  }
  Values loadPartials(int64_t which) {
    Values results;
    for (int64_t r = 0; r < block.rows; ++r)
      for (int64_t v = 0; v < block.vectors; ++v)
        results.push_back(f.load(type, partials, partialAt(which, r, v)));
    return results;
  }
  void storePartials(ValueRange values, int64_t which) {
    for (int64_t r = 0; r < block.rows; ++r)
      for (int64_t v = 0; v < block.vectors; ++v)
        f.store(values[r * block.vectors + v], partials,
                partialAt(which, r, v));
  }

  void epilogue(const Values &results) {
    if (!e.plan.storeLoop) {
      for (int64_t r = 0; r < block.rows; ++r)
        for (int64_t v = 0; v < block.vectors; ++v)
          emitStore(f.add(row, r), v, results[r * block.vectors + v]);
      return;
    }
    Value spilled = f.scratch(count() * e.plan.lanes, e.element());
    for (int64_t i = 0; i < count(); ++i)
      f.store(results[i], spilled, f.index(i * e.plan.lanes));
    int64_t width = block.vectors * e.plan.lanes;
    int64_t full = block.tail < e.plan.lanes ? width - e.plan.lanes : width;
    f.loop(f.index(0), f.index(block.rows), 1, [&](Value r) {
      Value base = f.mul(r, width);
      Value i = f.add(row, r);
      f.loop(f.index(0), f.index(full), e.plan.lanes, [&](Value c) {
        Value x = f.load(type, spilled, f.add(base, c));
        e.kernel.store(f.b, f.loc, buffers, batch, i, f.add(column, c), x, {});
      });
      if (full < width)
        emitStore(i, block.vectors - 1,
                  f.load(type, spilled, f.add(base, full)));
    });
  }

  /// Hands one vector to the epilogue; the last columns by mask or in pieces of
  /// 2^n lanes.
  void emitStore(Value i, int64_t v, Value x) {
    Value j = f.add(column, v * e.plan.lanes);
    bool full = v + 1 < block.vectors || block.tail == e.plan.lanes;
    if (full)
      return e.kernel.store(f.b, f.loc, buffers, batch, i, j, x, {});
    if (!e.plan.splitTail)
      return e.kernel.store(f.b, f.loc, buffers, batch, i, j, x,
                            f.mask(block.tail, e.plan.lanes));
    int64_t at = 0;
    for (int64_t lanes = e.plan.lanes / 2; lanes > 0; lanes /= 2) {
      if (!(block.tail & lanes))
        continue;
      SmallVector<int64_t> picks;
      for (int64_t l = 0; l < lanes; ++l)
        picks.push_back(at + l);
      e.kernel.store(f.b, f.loc, buffers, batch, i, f.add(j, at),
                     f.shuffle(x, x, picks), {});
      at += lanes;
    }
  }

  const GemmEmission &e;
  RegisterBlock block;
  ReadStrides strides;
  FunctionBuilder &f;
  VectorType type;
  Value a, b, aFirst, bFirst, batch, row, column;
  ValueRange buffers;
  Value partials, partialFirst, kFirst;
};

} // namespace

func::FuncOp emitRegisterBlock(const GemmEmission &e, RegisterBlock block,
                               MemRefType a, MemRefType b,
                               ReadStrides strides) {
  Type index = IndexType::get(e.loc.getContext());
  SmallVector<Type> arguments{a, b, index, index, index, index, index};
  arguments.append(e.kernel.buffers.begin(), e.kernel.buffers.end());
  if (e.stepsOverK())
    arguments.append({e.partialsType(), index, index});
  std::string name = e.kernel.name + "_block" + std::to_string(block.rows) +
                     "x" + std::to_string(block.vectors);
  if (block.tail < e.plan.lanes)
    name += "_tail" + std::to_string(block.tail);
  FunctionBuilder f(e.module, e.loc, name, arguments, /*isPrivate=*/true);
  RegisterBlockBuilder(e, block, strides, f).build();
  f.finish();
  return f.function;
}

} // namespace tessera::lowering::cpu
