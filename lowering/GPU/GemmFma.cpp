// Products by fused multiply-adds: tiles of both operands in shared memory, a
// block of sums in each thread's registers.
//
// Both operands lie in shared memory with k outermost, so that a thread reads
// its rows of A and columns of B as vectors of neighbours, and there are two
// buffers: while one is multiplied, the next steps of k are on their way from
// memory to registers. An operand that has k innermost in memory is transposed
// on its way to shared memory, with its places exchanged such that neither side
// has bank conflicts.
#include "lowering/CodeGen/Formula.h"
#include "lowering/GPU/GemmSource.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering::simt {

namespace {

/// Steps of k that shared memory holds at once.
constexpr int64_t kDepth = 16;
/// Those of them that stand one after another in the code: with twice as many
/// the loop has one instruction in a hundred less, and takes half as long again
/// to assemble.
constexpr int64_t kUnrolled = 4;
constexpr int64_t kAccessBytes = 16;
static_assert(kProductChunk % (2 * kDepth) == 0,
              "every chunk begins with the first buffer");

/// One operand's tile, `extent` of its rows or columns ("lines") by kDepth.
class FmaOperand {
public:
  /// `threadLines` of the lines are each thread's, in vectors that lie
  /// extent / groupCount() apart; those of the thread `place` begin at place *
  /// vectorLines().
  FmaOperand(GemmBlock &block, unsigned number, int64_t extent,
             int64_t threadLines, Value place, int64_t fromByte)
      : block(block), extent(extent),
        // -0 times +0 changes no sum, not even one of -0.
        source(block, number, GemmInput::of(block.source.operand(number)),
               extent, kDepth, bytesOfAccess(block),
               /*filler=*/number == 0 ? -0.0 : 0.0),
        computed(computeType(block.shape().element)),
        vector(std::min(threadLines, kAccessBytes / bytesOf(computed))),
        groups(threadLines / vector),
        tile(block.shared(computed, 2 * kDepth * extent, fromByte)) {
    chooseExchange();
    Value first = math().mul(place, vector);
    for (int64_t i = 0; i < period; ++i)
      places.push_back(math().bitXor(first, math().number(i * unit)));
  }

  static int64_t bytesFor(int64_t extent, Type element) {
    return 2 * kDepth * extent * bytesOf(computeType(element));
  }

  int64_t vectorLines() const { return vector; }
  int64_t groupCount() const { return groups; }

  /// This thread's part of the tile that begins at `from`, in registers.
  /// Nothing if the operand is computed.
  Values load(Value from) {
    Values loaded;
    if (!source.isComputed())
      for (int64_t i = 0; i < source.accesses(); ++i)
        loaded.push_back(source.load(from, i));
    return loaded;
  }

  /// Puts the tile into the buffer that `from` belongs to.
  void store(Value from, ValueRange loaded) {
    Value buffer = bufferOf(from);
    auto put = [&](GemmSource::Access access, Value elements) {
      this->put(buffer, access, widened(elements));
    };
    for (auto [i, elements] : llvm::enumerate(loaded))
      put(source.access(i), elements);
    if (source.isComputed())
      source.compute(from, put);
  }

  Value bufferOf(Value from) {
    return math().mul(math().bitAnd(from, kDepth), extent);
  }

  /// Where the thread's lines are at kUnrolled steps of the buffer that `from`
  /// belongs to, from step `first` on.
  Values placesAt(Value from, Value first) {
    Value base = math().add(bufferOf(from), math().mul(first, extent));
    // An access may be wider than these steps, whose exchange is then one.
    int64_t count = std::clamp<int64_t>(kUnrolled / source.width(), 1, period);
    Value by = count == period ? math().number(0) : exchangeOf(first);
    Values result;
    for (int64_t i = 0; i < count; ++i)
      result.push_back(math().add(base, math().bitXor(places[i], by)));
    return result;
  }

  /// The thread's lines at one of these steps, as vectors.
  Values fragment(ArrayRef<Value> at, int64_t step) {
    Values result;
    auto type = VectorType::get({vector}, computed);
    Value first = at[step / source.width() % at.size()];
    for (int64_t group = 0; group < groups; ++group) {
      Value from = math().add(first, step * extent + group * (extent / groups));
      result.push_back(vector::LoadOp::create(
          b(), loc(), type, tile, from, /*nontemporal=*/false,
          llvm::MaybeAlign(vector * bytesOf(computed))));
    }
    return result;
  }

private:
  static int64_t bytesOf(Type type) { return type.getIntOrFloatBitWidth() / 8; }
  /// Of narrow integers as many as of those that they are computed as.
  static int64_t bytesOfAccess(const GemmBlock &block) {
    Type element = block.source.shape.element;
    return kAccessBytes / bytesOf(computeType(element)) * bytesOf(element);
  }
  OpBuilder &b() { return block.b(); }
  Location loc() { return block.loc(); }
  IndexMath math() { return block.math(); }

  /// Where k is innermost, the accesses of a warp that stand side by side go to
  /// different steps, which lie a multiple of all banks apart: the lines of the
  /// accesses p apart are exchanged by p times a number of lines.
  void chooseExchange() {
    unit = vector;
    period = 1;
    if (!source.isKInnermost())
      return;
    int64_t banks = 128 / bytesOf(computed), besides = kDepth / source.width();
    unit = std::max(vector, banks / besides);
    period = std::min({besides, banks / unit, extent / groups / unit});
  }

  /// What the lines of a step are exchanged by.
  Value exchangeOf(Value step) {
    if (period == 1)
      return math().number(0);
    return math().mul(math().rem(math().div(step, source.width()), period),
                      unit);
  }

  /// From the form in memory to that which is computed with.
  Value widened(Value elements) {
    Type type = elements.getType();
    if (getElementTypeOrSelf(type) == computed)
      return elements;
    auto vectorType = dyn_cast<VectorType>(type);
    return arith::ExtSIOp::create(
        b(), loc(), vectorType ? Type(vectorType.clone(computed)) : computed,
        elements);
  }

  /// Writes the elements of one access to the tile.
  void put(Value buffer, GemmSource::Access access, Value elements) {
    Value line = math().bitXor(access.line, exchangeOf(access.step));
    Value at =
        math().add(buffer, math().add(math().mul(access.step, extent), line));
    if (!source.isKInnermost() || source.width() == 1)
      return storeLanes(b(), loc(), elements, tile, at, /*nonTemporal=*/false,
                        /*mask=*/{}, /*isAligned=*/true);
    for (int64_t i = 0; i < source.width(); ++i)
      memref::StoreOp::create(
          b(), loc(), vector::ExtractOp::create(b(), loc(), elements, i), tile,
          math().add(at, i * extent));
  }

  GemmBlock &block;
  const int64_t extent;
  GemmSource source;
  const Type computed;
  const int64_t vector, groups;
  int64_t unit, period; ///< Of the exchange of lines.
  Value tile;
  Values places; ///< Of the thread's lines, for each exchange.
};

/// A block's tile of the result, and the part of it that a thread computes.
struct GemmTile {
  int64_t rows, columns, threadRows, threadColumns;
  int64_t sideBySide; ///< Blocks that there are registers for.

  int64_t threads() const {
    return rows / threadRows * (columns / threadColumns);
  }
};

class FmaGemm {
public:
  FmaGemm(const ProductKernel &source, StringRef name, ModuleOp module,
          GemmTile tile, int64_t chunks)
      : element(computeType(source.shape.element)), tile(tile),
        bytesA(FmaOperand::bytesFor(tile.rows, element)),
        sharedBytes(bytesA + FmaOperand::bytesFor(tile.columns, element)),
        block(source, name, module, tile.rows, tile.columns, tile.threads(),
              sharedBytes, chunks) {
    block.launch.sideBySide(tile.sideBySide);
    placeThread();
    a.emplace(block, 0, tile.rows, tile.threadRows, threadRow, 0);
    bOperand.emplace(block, 1, tile.columns, tile.threadColumns, threadColumn,
                     bytesA);
    sumType = VectorType::get({bOperand->vectorLines()}, element);
  }

  void emit() {
    Values sums = allSums();
    block.finish(slabs(), tile.columns,
                 [&](Value slab, Value buffer) { write(sums, slab, buffer); });
  }

private:
  OpBuilder &b() { return block.b(); }
  Location loc() { return block.loc(); }
  IndexMath math() { return block.math(); }

  /// The lanes of a warp are a rectangle, so that they read few different
  /// vectors, all in different banks.
  void placeThread() {
    int64_t across = tile.columns / tile.threadColumns;
    int64_t laneColumns = std::min<int64_t>(8, across),
            laneRows = kWarp / laneColumns, warps = across / laneColumns;
    Value lane = math().rem(block.launch.thread(), kWarp);
    Value warp = math().div(block.launch.thread(), kWarp);
    threadColumn = math().add(math().mul(math().rem(warp, warps), laneColumns),
                              math().rem(lane, laneColumns));
    threadRow = math().add(math().mul(math().div(warp, warps), laneRows),
                           math().div(lane, laneColumns));
  }

  Value splat(double value) { return simt::splat(b(), loc(), sumType, value); }

  size_t sumCount() const { return tile.threadRows * bOperand->groupCount(); }

  /// The totals of all chunks of k.
  Values allSums() {
    int64_t k = block.shape().k;
    if (k == 0)
      return Values(sumCount(), splat(0.0));
    if (block.chunks > 1) {
      Value from = math().mul(block.chunk, kProductChunk);
      return chunk(from, math().min(math().add(from, kProductChunk), k));
    }
    if (!isSymbolic(k) && (k <= kProductChunk || isa<IntegerType>(element)))
      return chunk(math().number(0), math().number(k));
    // -0 changes no sum; but the sum of nothing is +0.
    Value start = splat(-0.0);
    if (isSymbolic(k)) {
      Value isEmpty = math().less(math().number(k), 1);
      start = arith::SelectOp::create(b(), loc(), isEmpty, splat(0.0), start);
    }
    Value end = math().number(k);
    return block.loop(math().number(0), end, kProductChunk,
                      Values(sumCount(), start),
                      [&](Value from, ValueRange totals) {
                        Value to = arith::MinSIOp::create(
                            b(), loc(), math().add(from, kProductChunk), end);
                        Values sums = chunk(from, to);
                        for (auto [sum, total] : llvm::zip(sums, totals))
                          sum = addSums(b(), loc(), total, sum);
                        return sums;
                      });
  }

  /// The sums over [from, to) of k, which has an element.
  Values chunk(Value from, Value to) {
    Values carried(sumCount(), splat(0.0));
    llvm::append_range(carried, a->load(from));
    size_t endOfA = carried.size();
    llvm::append_range(carried, bOperand->load(from));
    Values result = block.loop(
        from, to, kDepth, carried, [&](Value step, ValueRange values) {
          a->store(step, values.slice(sumCount(), endOfA - sumCount()));
          bOperand->store(step, values.drop_front(endOfA));
          block.launch.barrier();
          Values next = loadNext(step, to, values.drop_front(sumCount()));
          Values sums = multiply(step, values.take_front(sumCount()));
          llvm::append_range(sums, next);
          return sums;
        });
    result.truncate(sumCount());
    return result;
  }

  Values loadNext(Value step, Value to, ValueRange loaded) {
    if (loaded.empty())
      return {};
    Value next = math().add(step, kDepth);
    Value exists =
        arith::CmpIOp::create(b(), loc(), arith::CmpIPredicate::slt, next, to);
    return block.choose(
        exists,
        [&] {
          Values values = a->load(next);
          llvm::append_range(values, bOperand->load(next));
          return values;
        },
        [&] { return Values(loaded); });
  }

  /// Adds the products of a tile to the sums.
  Values multiply(Value from, ValueRange sums) {
    return block.loop(math().number(0), math().number(kDepth), kUnrolled,
                      Values(sums), [&](Value first, ValueRange carried) {
                        Values next(carried);
                        Values rows = a->placesAt(from, first),
                               columns = bOperand->placesAt(from, first);
                        for (int64_t step = 0; step < kUnrolled; ++step)
                          multiply(a->fragment(rows, step),
                                   bOperand->fragment(columns, step), next);
                        return next;
                      });
  }

  void multiply(ArrayRef<Value> rows, ArrayRef<Value> columns,
                MutableArrayRef<Value> sums) {
    for (int64_t i = 0; i < tile.threadRows; ++i) {
      Value row = vector::ExtractOp::create(
          b(), loc(), rows[i / a->vectorLines()], i % a->vectorLines());
      row = vector::BroadcastOp::create(b(), loc(), sumType, row);
      for (auto [j, column] : llvm::enumerate(columns))
        multiplyAdd(row, column, sums[i * columns.size() + j]);
    }
  }

  void multiplyAdd(Value x, Value y, Value &sum) {
    if (isa<FloatType>(element)) {
      sum = math::FmaOp::create(b(), loc(), x, y, sum);
      return;
    }
    Value product = arith::MulIOp::create(b(), loc(), x, y);
    sum = arith::AddIOp::create(b(), loc(), sum, product);
  }

  /// How often the tile goes through the shared memory of the operands.
  int64_t slabs() const {
    int64_t bytes =
        tile.rows * tile.columns * element.getIntOrFloatBitWidth() / 8;
    int64_t count = 1;
    while (bytes / count > sharedBytes)
      count *= 2;
    assert(a->groupCount() % count == 0 && "a slab has whole groups of rows");
    return count;
  }

  /// A group of a thread's rows is in one slab.
  void write(ArrayRef<Value> sums, Value slab, Value buffer) {
    int64_t perSlab = a->groupCount() / slabs(), height = a->vectorLines(),
            vectors = bOperand->groupCount(), width = bOperand->vectorLines();
    Value column = math().mul(threadColumn, width);
    for (int64_t group = 0; group < perSlab; ++group)
      for (int64_t i = 0; i < height; ++i) {
        Value row = math().add(math().mul(threadRow, height),
                               group * (tile.rows / a->groupCount()) + i);
        Value at = math().add(math().mul(row, tile.columns), column);
        for (int64_t j = 0; j < vectors; ++j) {
          auto sumOf = [&](int64_t number) {
            int64_t threadRow = (number * perSlab + group) * height + i;
            return sums[threadRow * vectors + j];
          };
          Value sum = sumOf(0);
          for (int64_t number = 1; number < slabs(); ++number)
            sum = arith::SelectOp::create(b(), loc(), math().less(slab, number),
                                          sum, sumOf(number));
          Value place = math().add(at, j * (tile.columns / vectors));
          storeLanes(b(), loc(), sum, buffer, place, /*nonTemporal=*/false,
                     /*mask=*/{}, /*isAligned=*/true);
        }
      }
  }

  const Type element;
  const GemmTile tile;
  const int64_t bytesA, sharedBytes;
  GemmBlock block;
  Value threadRow, threadColumn;
  std::optional<FmaOperand> a, bOperand;
  VectorType sumType;
};

/// A tile and how much of the peak it reaches if there are blocks enough.
struct Choice {
  GemmTile tile;
  double efficiency;
};

constexpr Choice kTiles32[] = {{{128, 128, 8, 8, 1}, 1},
                               {{64, 64, 8, 4, 4}, 0.8},
                               {{32, 32, 4, 4, 8}, 0.5},
                               {{16, 64, 4, 4, 8}, 0.45},
                               {{64, 16, 4, 4, 8}, 0.45}};
constexpr Choice kTiles64[] = {{{128, 64, 8, 4, 1}, 1},
                               {{32, 32, 4, 4, 4}, 0.6},
                               {{16, 64, 4, 4, 4}, 0.55},
                               {{64, 16, 4, 4, 4}, 0.55}};

/// How many chunks of k are computed apart: all, if the result alone does not
/// give every multiprocessor a block.
int64_t apartChunks(const GemmShape &s) {
  for (int64_t size : {s.batch, s.m, s.n, s.k})
    if (isSymbolic(size))
      return 1;
  constexpr int64_t kLeastTile = 32 * 32, kMostBytes = 64 << 20;
  int64_t elements = s.batch * s.m * s.n,
          bytes = computeType(s.element).getIntOrFloatBitWidth() / 8;
  int64_t chunks = std::max<int64_t>(1, llvm::divideCeil(s.k, kProductChunk));
  bool isFew = elements < kLeastTile * kMultiprocessors / 2;
  return isFew && chunks * elements * bytes <= kMostBytes ? chunks : 1;
}

} // namespace

void emitFmaGemm(const ProductKernel &source, StringRef name, ModuleOp module) {
  const GemmShape &shape = source.shape;
  bool isWide = shape.element.getIntOrFloatBitWidth() == 64;
  ArrayRef<Choice> choices = isWide ? ArrayRef(kTiles64) : ArrayRef(kTiles32);
  int64_t chunks = apartChunks(shape);
  GemmTile tile = chooseTile(choices, shape, chunks).tile;
  FmaGemm(source, name, module, tile, chunks).emit();
  if (chunks > 1)
    emitChunkSums(source, (name + "_1").str(), module, chunks);
}

} // namespace tessera::lowering::simt
