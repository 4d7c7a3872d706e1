// Register blocks: private functions that run the chains of k and the epilogue.
#include "lowering/CPU/GemmPairs.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
namespace tessera::lowering::cpu {
namespace {

/// The function that runs the epilogue over a register block in memory. It is
/// not inlined: what it hoists out of its loops, constants above all, would
/// take registers from the accumulators.
func::FuncOp emitStoreLoop(const GemmEmission &e, RegisterBlock block,
                           StringRef name, MemRefType spilledType) {
  Type index = IndexType::get(e.loc.getContext());
  SmallVector<Type> arguments{spilledType, index, index, index};
  llvm::append_range(arguments, e.kernel.buffers);
  FunctionBuilder f(e.module, e.loc, name, arguments, /*isPrivate=*/true);
  f.function->setAttr("passthrough", f.b.getStrArrayAttr({"noinline"}));
  for (unsigned i : llvm::seq<unsigned>(4, arguments.size()))
    f.function.setArgAttr(i, "llvm.noalias", f.b.getUnitAttr());
  Value spilled = f.arg(0), batch = f.arg(1), row = f.arg(2), column = f.arg(3);
  ValueRange buffers = f.args(4, e.kernel.buffers.size());
  VectorType type = e.vectorType();
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
      e.store(f, buffers, batch, i, f.add(column, full),
              f.load(type, spilled, f.add(base, full)), block.tail);
  });
  f.finish();
  return f.function;
}

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
    if (e.kernel.shape.pairs)
      isExact = f.arg(f.function.getNumArguments() - 1);
    if (!e.stepsOverK())
      return;
    totals = f.arg(7 + buffers.size());
    kFirst = f.arg(8 + buffers.size());
  }

  void build() {
    const int64_t k = e.kernel.shape.k;
    if (e.plan.prefetchC && e.kernel.result >= 0)
      prefetchResult();
    if (e.stepsOverK())
      step();
    else if (k > e.kernel.shape.chunk())
      epilogue(orZeros(allChunks()));
    else
      epilogue(chain(f.index(0), f.index(k)));
  }

private:
  int64_t count() const { return block.rows * block.vectors; }
  Values splats(double value) { return Values(count(), f.splat(type, value)); }

  void prefetchResult() {
    const GemmShape &s = e.kernel.shape;
    Value c = e.flatBuffer(f, buffers[e.kernel.result]);
    Value at = f.add(f.mul(f.add(f.mul(batch, s.m), row), s.n), column);
    int64_t line = 64 / e.elementBytes();
    int64_t columns = (block.vectors - 1) * e.plan.lanes + block.tail;
    for (int64_t r = 0; r < block.rows; ++r)
      for (int64_t j = 0; j < columns; j += line)
        f.prefetch(c, f.add(at, r * s.n + j), /*isWrite=*/true, 2);
  }

  /// The chains of every element over [begin, end), from +0.
  Values chain(Value begin, Value end) {
    if (e.readsTransposedB())
      return transposedChain(begin, end);
    auto stepsBy = [&](auto addProducts) {
      return f.loop(begin, end, 1, splats(0.0),
                    [&](Value k, ValueRange before) {
                      Value aAt = f.add(aFirst, f.mul(k, strides.aK));
                      return (this->*addProducts)(aAt, rowOfB(k), before);
                    });
    };
    if (!e.kernel.shape.pairs)
      return stepsBy(&RegisterBlockBuilder::multiplyAdd);
    return f.choose(
        isExact, [&] { return stepsBy(&RegisterBlockBuilder::dot); },
        [&] { return stepsBy(&RegisterBlockBuilder::multiplyAddHalves); });
  }

  Values rowOfB(Value k) {
    Value at = f.add(bFirst, f.mul(k, strides.bK));
    Values row;
    for (int64_t v = 0; v < block.vectors; ++v)
      row.push_back(loadB(at, v));
    if (e.plan.prefetchB)
      for (int64_t c = 0; c < block.vectors * e.plan.lanes;
           c += 64 / e.elementBytes())
        f.prefetch(b, f.add(at, e.plan.prefetchB + c), /*isWrite=*/false, 3);
    return row;
  }

  /// One step of k: adds a column of A times a row of B. `part` of each factor
  /// from A is multiplied.
  Values addProducts(Value aAt, ValueRange bs, ValueRange before,
                     llvm::function_ref<Value(Value)> part,
                     llvm::function_ref<Value(Value, Value, Value)> add) {
    Values results;
    for (int64_t r = 0; r < block.rows; ++r) {
      Value x = part(f.broadcast(type, a, f.add(aAt, r * strides.aRow)));
      for (int64_t v = 0; v < block.vectors; ++v)
        results.push_back(add(x, bs[v], before[r * block.vectors + v]));
    }
    return results;
  }

  Values multiplyAdd(Value aAt, ValueRange bs, ValueRange before) {
    return addProducts(
        aAt, bs, before, [](Value x) { return x; },
        [&](Value x, Value y, Value sum) {
          return f.multiplyAdd(x, y, sum, e.target.fma);
        });
  }

  Values dot(Value aAt, ValueRange bs, ValueRange before) {
    return addProducts(
        aAt, bs, before, [](Value x) { return x; },
        [&](Value x, Value y, Value sum) {
          return dotPairs(f, x, y, sum, e.target);
        });
  }

  /// The halves of all pairs one after the other, so that few registers hold
  /// them.
  Values multiplyAddHalves(Value aAt, ValueRange bs, ValueRange before) {
    Values sums(before);
    for (auto half : {highHalf, lowHalf}) {
      Values halves;
      for (Value pairs : bs)
        halves.push_back(half(f, pairs));
      sums = addProducts(
          aAt, halves, sums, [&](Value x) { return half(f, x); },
          [&](Value x, Value y, Value sum) {
            return f.multiplyAdd(x, y, sum, e.target.fma);
          });
    }
    return sums;
  }

  /// The same with B stored as [n, k]: squares of it are transposed in
  /// registers, and the last steps gather.
  Values transposedChain(Value begin, Value end) {
    // A step takes what a line of memory holds of each row of B.
    int64_t lanes = e.plan.lanes, step = 64 / e.elementBytes();
    Value squares = f.sub(end, f.rem(f.sub(end, begin), step));
    Values chains = f.loop(
        begin, squares, step, splats(0.0), [&](Value k, ValueRange before) {
          Values results(before);
          for (int64_t v = 0; v < block.vectors; ++v)
            for (int64_t l = 0; l < validLanes(v); ++l)
              f.prefetch(b, transposedAt(v * lanes + l, f.add(k, 8 * step)),
                         /*isWrite=*/false, 2);
          int64_t columns = FunctionBuilder::squareColumns(type);
          for (int64_t x = 0; x < step; x += columns)
            for (int64_t v = 0; v < block.vectors; ++v)
              addSquare(f.add(k, x), v, results);
          return results;
        });
    return f.loop(squares, end, 1, chains, [&](Value k, ValueRange before) {
      Values bs;
      for (int64_t v = 0; v < block.vectors; ++v)
        bs.push_back(gather(k, v));
      return multiplyAdd(f.add(aFirst, f.mul(k, strides.aK)), bs, before);
    });
  }

  /// Adds some rows of B, one vector of columns wide, to the chains.
  void addSquare(Value k, int64_t v, Values &chains) {
    Values rows = f.transposed(type, [&](int64_t l, int64_t count) -> Value {
      VectorType piece = e.vectorType(count);
      if (l >= validLanes(v))
        return f.zero(piece);
      return f.load(piece, b, transposedAt(v * e.plan.lanes + l, k));
    });
    for (auto [x, bRow] : llvm::enumerate(rows)) {
      Value aAt = f.add(aFirst, f.mul(f.add(k, x), strides.aK));
      for (int64_t r = 0; r < block.rows; ++r) {
        Value &sum = chains[r * block.vectors + v];
        Value factor = f.broadcast(type, a, f.add(aAt, r * strides.aRow));
        sum = f.multiplyAdd(factor, bRow, sum, e.target.fma);
      }
    }
  }

  Value gather(Value k, int64_t v) {
    Value x = f.zero(type);
    for (int64_t l = 0; l < validLanes(v); ++l) {
      Value scalar = memref::LoadOp::create(
          f.b, f.loc, b, transposedAt(v * e.plan.lanes + l, k));
      x = vector::InsertOp::create(f.b, f.loc, scalar, x, l);
    }
    return x;
  }

  int64_t validLanes(int64_t v) const {
    return v + 1 < block.vectors ? e.plan.lanes : block.tail;
  }
  Value transposedAt(int64_t column, Value k) {
    return f.add(f.add(bFirst, k), column * e.kernel.shape.k);
  }

  /// Packed panels are padded with zeros; B itself is read by mask at its end.
  Value loadB(Value at, int64_t v) {
    Value index = f.add(at, v * e.plan.lanes);
    bool partial = v + 1 == block.vectors && block.tail < e.plan.lanes;
    if (!partial || e.plan.packB != Packing::None)
      return f.load(type, b, index);
    Value mask = f.mask(block.tail, e.plan.lanes);
    return vector::MaskedLoadOp::create(f.b, f.loc, type, b, ValueRange(index),
                                        mask, f.zero(type));
  }

  /// The sum of the chunks' chains. It starts at -0, so that the first chunk's
  /// result stays what it is.
  Values allChunks() {
    Value k = f.index(e.kernel.shape.k);
    return f.loop(f.index(0), k, e.kernel.shape.chunk(), splats(-0.0),
                  [&](Value begin, ValueRange before) {
                    Value end = f.min(f.add(begin, e.kernel.shape.chunk()), k);
                    return sums(before, chain(begin, end));
                  });
  }

  /// A sum of no chunks is +0, whatever it starts at.
  Values orZeros(Values sums) {
    const int64_t k = e.kernel.shape.k;
    if (!ir::isSymbolic(k))
      return sums;
    Value isEmpty = f.equal(f.index(k), 0);
    for (Value &sum : sums)
      sum = arith::SelectOp::create(f.b, f.loc, isEmpty, f.zero(type), sum);
    return sums;
  }

  Values sums(ValueRange xs, ValueRange ys) {
    Values results;
    for (auto [x, y] : llvm::zip_equal(xs, ys))
      results.push_back(f.addVectors(x, y));
    return results;
  }

  /// One chunk of k: adds to the totals of the chunks before, and either keeps
  /// the totals or, after the last chunk, runs the epilogue.
  void step() {
    const int64_t k = e.kernel.shape.k;
    Value end = f.min(f.add(kFirst, e.plan.kBlock), f.index(k));
    Values chains = chain(f.index(0), f.sub(end, kFirst));
    Value totalsAt = e.totalsAt(f, batch, row, column);
    Values before = f.choose(
        f.equal(kFirst, 0), [&] { return splats(-0.0); },
        [&] {
          Values loaded;
          for (int64_t i = 0; i < count(); ++i)
            loaded.push_back(f.load(type, totals, totalAt(totalsAt, i)));
          return loaded;
        });
    Values after = sums(before, chains);
    auto op = scf::IfOp::create(f.b, f.loc, f.equal(end, k),
                                /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(f.b);
    f.b.setInsertionPointToStart(op.elseBlock());
    for (int64_t i = 0; i < count(); ++i)
      f.store(after[i], totals, totalAt(totalsAt, i));
    f.b.setInsertionPointToStart(op.thenBlock());
    epilogue(after);
  }

  Value totalAt(Value first, int64_t i) {
    return f.add(first, i / block.vectors * e.totalColumns() +
                            i % block.vectors * e.plan.lanes);
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
    SmallVector<Value> operands{spilled, batch, row, column};
    llvm::append_range(operands, buffers);
    f.call(emitStoreLoop(e, block, (f.function.getName() + "_store").str(),
                         cast<MemRefType>(spilled.getType())),
           operands);
  }

  /// Hands one vector to the epilogue.
  void emitStore(Value i, int64_t v, Value x) {
    Value j = f.add(column, v * e.plan.lanes);
    e.store(f, buffers, batch, i, j, x, validLanes(v));
  }

  const GemmEmission &e;
  RegisterBlock block;
  ReadStrides strides;
  FunctionBuilder &f;
  VectorType type;
  Value a, b, aFirst, bFirst, batch, row, column;
  ValueRange buffers;
  Value totals, kFirst;
  Value isExact; ///< See isDotExact().
};

} // namespace

func::FuncOp emitRegisterBlock(const GemmEmission &e, RegisterBlock block,
                               MemRefType a, MemRefType b,
                               ReadStrides strides) {
  Type index = IndexType::get(e.loc.getContext());
  SmallVector<Type> arguments{a, b, index, index, index, index, index};
  arguments.append(e.kernel.buffers.begin(), e.kernel.buffers.end());
  if (e.stepsOverK())
    arguments.append({e.totalsType(), index});
  if (e.kernel.shape.pairs)
    arguments.push_back(IntegerType::get(e.loc.getContext(), 1));
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
