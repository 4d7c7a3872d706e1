// The launches of a Gemm with few rows: B is read once, as it lies in memory.
#include "lowering/CPU/GemmBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
namespace tessera::lowering::cpu {
namespace {

/// Builds both launches. The sums of each chunk of k lie in the workspace, as
/// [chunk, batch, row, column] with padded rows.
class StreamBuilder {
public:
  StreamBuilder(const GemmEmission &e)
      : e(e), s(e.kernel.shape), p(e.plan), type(e.vectorType()),
        columns(e.streamColumns()),
        columnTiles(llvm::divideCeil(s.n, p.tileColumns)),
        chunks(llvm::divideCeil(s.k, kProductChunk)) {
    // With few rows the sums are the larger part of the traffic, else the
    // factors of A are.
    bool few = s.m <= 4;
    group = few || e.target.registers >= 32 ? 8 : 4;
    vectors = few ? 1 : 2;
  }

  void build() {
    FunctionBuilder chunkLaunch(e.module, e.loc, e.kernel.name + "_chunks",
                                e.launchArguments(), /*isPrivate=*/false);
    emitChunks(chunkLaunch);
    e.finishLaunch(chunkLaunch, formulaOf(s.batch * chunks * columnTiles));
    FunctionBuilder addLaunch(e.module, e.loc, e.kernel.name,
                              e.launchArguments(), /*isPrivate=*/false);
    emitAddition(addLaunch);
    e.finishLaunch(addLaunch, formulaOf(s.batch * columnTiles));
  }

private:
  /// The tile's columns, in whole vectors, and the end of those.
  std::pair<Value, Value> columnsOf(FunctionBuilder &f, Value columnTile,
                                    int64_t end) {
    if (columnTiles == 1)
      return {f.index(0), f.index(end)};
    Value begin = f.mul(columnTile, p.tileColumns);
    return {begin, f.min(f.add(begin, p.tileColumns), f.index(end))};
  }

  Value sumsAt(FunctionBuilder &f, Value chunk, Value batch, Value row,
               Value column) {
    Value at = f.add(f.mul(chunk, s.batch), batch);
    at = f.add(f.mul(at, s.m), row);
    return f.add(f.mul(at, columns), column);
  }

  void emitChunks(FunctionBuilder &f) {
    a = p.packA ? e.packedA(f) : e.flatBuffer(f, f.arg(e.kernel.a.buffer));
    if (!e.kernel.b.load)
      b = e.flatBuffer(f, f.arg(e.kernel.b.buffer));
    sums = e.streamSums(f);
    unsigned last = f.function.getNumArguments() - 1;
    f.loop(f.arg(last - 1), f.arg(last), 1, [&](Value tile) {
      Value columnTile = f.rem(tile, columnTiles);
      Value rest = f.div(tile, columnTiles);
      Value chunk = f.rem(rest, chunks);
      batch = s.batch == 1 ? f.index(0) : f.div(rest, chunks);
      auto [begin, end] = columnsOf(f, columnTile, s.n);
      Value first = sumsAt(f, chunk, batch, f.index(0), f.index(0));
      f.loop(f.index(0), f.index(s.m), 1, [&](Value row) {
        f.loop(begin, end, p.lanes, [&](Value column) {
          f.store(f.zero(type), sums,
                  f.add(f.add(first, f.mul(row, columns)), column));
        });
      });
      Value k = f.mul(chunk, kProductChunk);
      Value kEnd = chunks == 1 ? f.index(s.k)
                               : f.min(f.add(k, kProductChunk), f.index(s.k));
      // A chunk is a multiple of a group; only k itself may end within one.
      Value groups =
          s.k % group ? f.min(kEnd, f.index(s.k / group * group)) : kEnd;
      f.loop(k, groups, group,
             [&](Value at) { addGroup(f, at, group, begin, end, first); });
      f.loop(groups, kEnd, 1,
             [&](Value at) { addGroup(f, at, 1, begin, end, first); });
    });
  }

  /// Adds the products with `count` rows of B, from k on, to all rows' sums.
  void addGroup(FunctionBuilder &f, Value k, int64_t count, Value begin,
                Value end, Value first) {
    int64_t width = vectors * p.lanes, full = s.n / width * width;
    f.loop(begin, full < s.n ? f.min(end, f.index(full)) : end, width,
           [&](Value column) { addBlock(f, k, count, column, width, first); });
    if (full == s.n)
      return;
    auto tail = [&] {
      addBlock(f, k, count, f.index(full), s.n - full, first);
    };
    if (columnTiles == 1)
      return tail();
    f.when(f.equal(end, s.n), tail);
  }

  /// The same for `width` columns. The rows of B stay in registers while those
  /// of A pass.
  void addBlock(FunctionBuilder &f, Value k, int64_t count, Value column,
                int64_t width, Value first) {
    int64_t blockVectors = llvm::divideCeil(width, p.lanes);
    SmallVector<Values> rows(count);
    for (int64_t x = 0; x < count; ++x) {
      for (int64_t v = 0; v < blockVectors; ++v)
        rows[x].push_back(loadB(f, f.add(k, x), f.add(column, v * p.lanes),
                                std::min(p.lanes, width - v * p.lanes)));
      if (b)
        f.prefetch(b, bAt(f, f.add(k, count + x), column), /*isWrite=*/false,
                   3);
    }
    f.loop(f.index(0), f.index(s.m), 1, [&](Value row) {
      Value at = f.add(f.add(first, f.mul(row, columns)), column);
      Values block;
      for (int64_t v = 0; v < blockVectors; ++v)
        block.push_back(f.load(type, sums, f.add(at, v * p.lanes)));
      for (int64_t x = 0; x < count; ++x) {
        Value factor = f.broadcast(type, a, aAt(f, row, f.add(k, x)));
        for (int64_t v = 0; v < blockVectors; ++v)
          block[v] = f.multiplyAdd(factor, rows[x][v], block[v], e.target.fma);
      }
      for (int64_t v = 0; v < blockVectors; ++v)
        f.store(block[v], sums, f.add(at, v * p.lanes));
    });
  }

  Value aAt(FunctionBuilder &f, Value row, Value k) {
    int64_t stride = e.panelsA().first.stride;
    Value aBatch = s.sharedA ? f.index(0) : batch;
    if (p.packA)
      return f.add(f.add(f.mul(aBatch, s.k * stride), f.mul(k, stride)), row);
    Value base = f.mul(aBatch, s.m * s.k);
    return s.transA ? f.add(f.add(base, f.mul(k, s.m)), row)
                    : f.add(f.add(base, f.mul(row, s.k)), k);
  }

  Value bAt(FunctionBuilder &f, Value k, Value column) {
    Value bBatch = s.sharedB ? f.index(0) : batch;
    return f.add(f.mul(f.add(f.mul(bBatch, s.k), k), s.n), column);
  }

  Value loadB(FunctionBuilder &f, Value k, Value column, int64_t valid) {
    Value mask = valid < p.lanes ? f.mask(valid, p.lanes) : Value();
    if (e.kernel.b.load)
      return e.kernel.b.load(f.b, f.loc, f.args(0, e.kernel.buffers.size()),
                             s.sharedB ? f.index(0) : batch, k, column, p.lanes,
                             mask);
    Value at = bAt(f, k, column);
    if (!mask)
      return f.load(type, b, at);
    return vector::MaskedLoadOp::create(f.b, f.loc, type, b, ValueRange(at),
                                        mask, f.zero(type));
  }

  /// Adds the chunks in order and runs the epilogue.
  void emitAddition(FunctionBuilder &f) {
    sums = e.streamSums(f);
    unsigned last = f.function.getNumArguments() - 1;
    int64_t full = s.n / p.lanes * p.lanes;
    f.loop(f.arg(last - 1), f.arg(last), 1, [&](Value tile) {
      Value columnTile = f.rem(tile, columnTiles);
      Value batch = s.batch == 1 ? f.index(0) : f.div(tile, columnTiles);
      auto [begin, end] = columnsOf(f, columnTile, full);
      f.loop(f.index(0), f.index(s.m), 1, [&](Value row) {
        auto finish = [&](Value column, int64_t valid) {
          e.store(f, f.args(0, e.kernel.buffers.size()), batch, row, column,
                  total(f, batch, row, column), valid);
        };
        f.loop(begin, end, p.lanes,
               [&](Value column) { finish(column, p.lanes); });
        if (full == s.n)
          return;
        auto tail = [&] { finish(f.index(full), s.n - full); };
        if (columnTiles == 1)
          return tail();
        f.when(f.equal(columnTile, columnTiles - 1), tail);
      });
    });
  }

  Value total(FunctionBuilder &f, Value batch, Value row, Value column) {
    Value first = f.load(type, sums, sumsAt(f, f.index(0), batch, row, column));
    return f
        .loop(f.index(1), f.index(chunks), 1, first,
              [&](Value chunk, ValueRange before) {
                Value chain =
                    f.load(type, sums, sumsAt(f, chunk, batch, row, column));
                return Values{f.addVectors(before.front(), chain)};
              })
        .front();
  }

  const GemmEmission &e;
  const GemmShape &s;
  const GemmPlan &p;
  VectorType type;
  const int64_t columns, columnTiles, chunks;
  int64_t group,
      vectors; ///< Rows of B held in registers, and how much of each.
  Value a, b, sums, batch;
};

} // namespace

int64_t GemmEmission::streamColumns() const {
  // Rows a multiple of a page apart look alike to the check of loads against
  // earlier stores.
  return llvm::alignTo(kernel.shape.n, 64 / elementBytes()) +
         64 / elementBytes();
}

int64_t GemmEmission::streamBytes() const {
  if (!plan.streams)
    return 0;
  int64_t chunks = llvm::divideCeil(kernel.shape.k, kProductChunk);
  return chunks * kernel.shape.batch * kernel.shape.m * streamColumns() *
         elementBytes();
}

void emitStreamLaunches(const GemmEmission &e) { StreamBuilder(e).build(); }

} // namespace tessera::lowering::cpu
