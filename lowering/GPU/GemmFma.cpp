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
#include "lowering/GPU/Gemm.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering::simt {

namespace {

/// Steps of k that shared memory holds at once.
constexpr int64_t kDepth = 16;
constexpr int64_t kAccessBytes = 16;
static_assert(kProductChunk % (2 * kDepth) == 0,
              "every chunk begins with the first buffer");

/// One operand's tile, `extent` of its rows or columns ("lines") by kDepth.
class FmaOperand {
public:
  /// `threadLines` of the lines are each thread's, in vectors of `vector` that
  /// lie extent / (threadLines / vector) apart; those of the thread `place`
  /// begin at place * vector.
  FmaOperand(GemmBlock &block, unsigned number, int64_t extent,
             int64_t threadLines, Value place, int64_t fromByte)
      : block(block), number(number), extent(extent),
        lines(number == 0 ? block.shape().m : block.shape().n),
        k(block.shape().k),
        kInnermost(number == 0 ? !block.shape().transA : block.shape().transB),
        input(inputOf(block.source.operand(number))),
        element(block.shape().element), computed(computeType(element)),
        vector(std::min(threadLines, kAccessBytes / bytesOf(computed))),
        groups(threadLines / vector), width(widthOfAccess()),
        tile(block.shared(computed, 2 * kDepth * extent, fromByte)) {
    chooseSwizzle();
    locate(place);
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
    if (input >= 0)
      for (int64_t i = 0; i < accesses(); ++i)
        loaded.push_back(loadAccess(from, i));
    return loaded;
  }

  /// Puts the tile into the buffer `from` belongs to.
  void store(Value from, ValueRange loaded) {
    Value buffer = bufferOf(from);
    if (input >= 0) {
      for (auto [i, value] : llvm::enumerate(loaded))
        put(buffer, value, lineOf(i), stepOf(i), swizzleOfThread);
      return;
    }
    // Built once however many accesses a thread has.
    block.loop(block.launch.thread(), math().number(kDepth * extent / width),
               block.threads, {}, [&](Value access, ValueRange) -> Values {
                 compute(buffer, from, access);
                 return {};
               });
  }

  Value bufferOf(Value from) {
    return math().mul(math().bitAnd(from, kDepth), extent);
  }

  /// The thread's lines at a step of the buffer, as vectors.
  Values fragment(Value buffer, int64_t step) {
    Values result;
    auto type = VectorType::get({vector}, computed);
    Value at = math().add(buffer, places[step / width % period]);
    for (int64_t group = 0; group < groups; ++group) {
      Value from = math().add(at, step * extent + group * (extent / groups));
      result.push_back(vector::LoadOp::create(
          b(), loc(), type, tile, from, /*nontemporal=*/false,
          llvm::MaybeAlign(vector * bytesOf(computed))));
    }
    return result;
  }

private:
  static int64_t bytesOf(Type type) { return type.getIntOrFloatBitWidth() / 8; }
  OpBuilder &b() { return block.b(); }
  Location loc() { return block.loc(); }
  IndexMath math() { return block.math(); }

  /// Elements of one access to memory, neighbours there.
  int64_t widthOfAccess() const {
    int64_t most = kAccessBytes / bytesOf(computed);
    auto sizes = tensorType(block.source.operand(number)).getShape();
    const ProductDims &dims = number == 0 ? block.source.a : block.source.b;
    size_t outer =
        dims.batch.size() +
        (*dims.contractFirst ? dims.contract.size() : dims.free.size());
    auto fits = [&](int64_t lanes) {
      return input >= 0 ? isMultipleOf(kInnermost ? k : lines, lanes)
                        : holdsVectors(sizes.drop_front(outer), lanes);
    };
    while (most > 1 && !fits(most))
      most /= 2;
    return most;
  }

  /// Where k is innermost, the accesses of a warp that stand side by side go to
  /// different steps, which lie a multiple of all banks apart: the lines of the
  /// accesses p apart are exchanged by p times a number of lines.
  void chooseSwizzle() {
    unit = vector;
    period = 1;
    if (!kInnermost)
      return;
    int64_t banks = 128 / bytesOf(computed), besides = kDepth / width;
    unit = std::max(vector, banks / besides);
    period = std::min({besides, banks / unit, extent / groups / unit});
  }

  int64_t accesses() const { return kDepth * extent / width / block.threads; }
  /// Accesses that lie side by side in memory.
  int64_t besides() const { return (kInnermost ? kDepth : extent) / width; }

  /// What does not change from tile to tile.
  void locate(Value place) {
    Value thread = block.launch.thread();
    inner = math().mul(math().rem(thread, besides()), width);
    outer = math().div(thread, besides());
    swizzleOfThread = swizzleOf(inner);
    Value first = math().mul(place, vector);
    for (int64_t i = 0; i < period; ++i)
      places.push_back(math().bitXor(first, math().number(i * unit)));
    firstLine = number == 0 ? block.firstRow : block.firstColumn;
    firstElement = math().mul(block.batch, lines * k);
    for (int64_t i = 0; i < accesses(); ++i)
      if (kInnermost || i == 0)
        linesInMemory.push_back(lineInMemory(i));
  }

  Value swizzleOf(Value step) {
    if (period == 1)
      return math().number(0);
    return math().mul(math().rem(math().div(step, width), period), unit);
  }

  /// The first line and the first step, in the tile, of the thread's access i.
  Value outerOf(int64_t i) {
    return math().add(outer, i * (block.threads / besides()));
  }
  Value lineOf(int64_t i) { return kInnermost ? outerOf(i) : inner; }
  Value stepOf(int64_t i) { return kInnermost ? inner : outerOf(i); }

  /// A line beyond the last reads the last one: its sums are not stored.
  Value lineInMemory(int64_t i) {
    Value line = math().add(firstLine, lineOf(i));
    if (!isMultipleOf(lines, extent))
      line = math().min(line, lines - (kInnermost ? 1 : width));
    if (!kInnermost)
      return math().add(firstElement, line);
    return math().add(firstElement, math().mul(line, k));
  }

  bool hasTail() const { return !isMultipleOf(k, kDepth); }

  /// What changes no sum: -0 times +0, which a sum of -0 survives too.
  Value filler(int64_t lanes) {
    TypedAttr value = b().getZeroAttr(computed);
    if (isa<FloatType>(computed) && number == 0)
      value = b().getFloatAttr(computed, -0.0);
    if (lanes > 1)
      value = DenseElementsAttr::get(VectorType::get({lanes}, computed),
                                     Attribute(value));
    return arith::ConstantOp::create(b(), loc(), value);
  }

  /// From the form in memory to that which is computed with.
  Value widened(Value value) {
    if (element == computed)
      return value;
    Type type = computed;
    if (auto vectorType = dyn_cast<VectorType>(value.getType()))
      type = vectorType.clone(computed);
    return arith::ExtSIOp::create(b(), loc(), type, value);
  }

  Value loadAccess(Value from, int64_t i) {
    Value step = math().add(from, stepOf(i)), exists;
    if (hasTail()) {
      exists = math().less(step, k);
      step = math().min(step, k - (kInnermost ? width : 1));
    }
    Value at = kInnermost
                   ? math().add(linesInMemory[i], step)
                   : math().add(linesInMemory[0], math().mul(step, lines));
    Value value = widened(loadLanes(b(), loc(), block.launch.inputs()[input],
                                    {at, 1, width}, width, element, {},
                                    /*isAligned=*/true));
    if (!exists)
      return value;
    return arith::SelectOp::create(b(), loc(), exists, value, filler(width));
  }

  /// Writes the elements of one access to the tile.
  void put(Value buffer, Value value, Value line, Value step, Value swizzle) {
    Value at = math().add(buffer, math().add(math().mul(step, extent),
                                             math().bitXor(line, swizzle)));
    if (!kInnermost || width == 1)
      return storeLanes(b(), loc(), value, tile, at, /*nonTemporal=*/false,
                        /*mask=*/{}, /*isAligned=*/true);
    for (int64_t i = 0; i < width; ++i)
      memref::StoreOp::create(b(), loc(),
                              vector::ExtractOp::create(b(), loc(), value, i),
                              tile, math().add(at, i * extent));
  }

  /// Computes the elements of one access of any thread.
  void compute(Value buffer, Value from, Value access) {
    Value in = math().mul(math().rem(access, besides()), width);
    Value out = math().div(access, besides());
    Value line = kInnermost ? out : in, step = kInnermost ? in : out;
    Value row = math().add(kInnermost ? firstLine : from, out);
    Value column = math().add(kInnermost ? from : firstLine, in);
    Value exists;
    if (!isMultipleOf(lines, extent))
      exists = math().less(kInnermost ? row : column, lines);
    if (hasTail())
      exists = math().both(exists, math().less(kInnermost ? column : row, k));
    auto build = [&]() -> Values {
      LaneMath lane(b(), loc());
      auto index = *block.source.operandIndex(
          lane, number, {block.batch, 0, 1}, {row, 0, 1},
          {column, width > 1 ? 1 : 0, width}, width);
      FusedBody body(block.source.kernel, block.launch.inputs());
      body.alignBuffers();
      FusedBody::Frame frame(body, b());
      return {widened(frame.at(block.source.operand(number), index, width))};
    };
    Value value =
        exists ? block.choose(exists, build,
                              [&]() -> Values { return {filler(width)}; })[0]
               : build()[0];
    put(buffer, value, line, step, swizzleOf(step));
  }

  GemmBlock &block;
  const unsigned number;
  const int64_t extent, lines, k;
  const bool kInnermost;
  const int64_t input; ///< Or -1: it is computed.
  const Type element, computed;
  const int64_t vector, groups, width;
  int64_t unit, period; ///< Of the exchange of lines.
  Value tile;
  Value inner, outer, swizzleOfThread, firstLine, firstElement;
  Values places;        ///< Of the thread's lines, for each exchange.
  Values linesInMemory; ///< The first element of each access at k = 0.
};

class FmaGemm {
public:
  FmaGemm(const ProductKernel &source, StringRef name, ModuleOp module,
          GemmTile tile)
      : element(computeType(source.shape.element)), tile(tile),
        bytesA(FmaOperand::bytesFor(tile.rows, element)),
        sharedBytes(bytesA + FmaOperand::bytesFor(tile.columns, element)),
        block(source, name, module, tile.rows, tile.columns, tile.threads(),
              sharedBytes) {
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

  Value splat(double value) {
    TypedAttr scalar = isa<FloatType>(element)
                           ? TypedAttr(b().getFloatAttr(element, value))
                           : TypedAttr(b().getZeroAttr(element));
    return arith::ConstantOp::create(
        b(), loc(), DenseElementsAttr::get(sumType, Attribute(scalar)));
  }

  size_t sumCount() const { return tile.threadRows * bOperand->groupCount(); }

  /// The totals of all chunks of k.
  Values allSums() {
    int64_t k = block.shape().k;
    if (k == 0)
      return Values(sumCount(), splat(0.0));
    if (!isSymbolic(k) && (k <= kProductChunk || isa<IntegerType>(element)))
      return chunk(math().number(0), math().number(k));
    // -0 changes no sum; but the sum of nothing is +0.
    Value start = splat(-0.0);
    if (isSymbolic(k)) {
      Value isEmpty = math().less(math().number(k), 1);
      start = arith::SelectOp::create(b(), loc(), isEmpty, splat(0.0), start);
    }
    Value end = math().number(k);
    return block.loop(
        math().number(0), end, kProductChunk, Values(sumCount(), start),
        [&](Value from, ValueRange totals) {
          Value to = arith::MinSIOp::create(
              b(), loc(), math().add(from, kProductChunk), end);
          Values sums = chunk(from, to);
          for (auto [sum, total] : llvm::zip(sums, totals))
            sum = isa<FloatType>(element)
                      ? Value(arith::AddFOp::create(b(), loc(), total, sum))
                      : Value(arith::AddIOp::create(b(), loc(), total, sum));
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
          Values sums(values.take_front(sumCount()));
          multiply(step, sums);
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

  void multiply(Value from, MutableArrayRef<Value> sums) {
    Value bufferA = a->bufferOf(from), bufferB = bOperand->bufferOf(from);
    int64_t vectors = bOperand->groupCount();
    for (int64_t step = 0; step < kDepth; ++step) {
      Values rows = a->fragment(bufferA, step);
      Values columns = bOperand->fragment(bufferB, step);
      for (int64_t i = 0; i < tile.threadRows; ++i) {
        Value row = vector::ExtractOp::create(
            b(), loc(), rows[i / a->vectorLines()], i % a->vectorLines());
        row = vector::BroadcastOp::create(b(), loc(), sumType, row);
        for (int64_t j = 0; j < vectors; ++j)
          multiplyAdd(row, columns[j], sums[i * vectors + j]);
      }
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

constexpr Choice kTiles32[] = {{{128, 128, 8, 8}, 1},
                               {{64, 64, 8, 4}, 0.8},
                               {{32, 32, 4, 4}, 0.5},
                               {{16, 64, 4, 4}, 0.45},
                               {{64, 16, 4, 4}, 0.45}};
constexpr Choice kTiles64[] = {{{128, 64, 8, 4}, 1},
                               {{32, 32, 4, 4}, 0.6},
                               {{16, 64, 4, 4}, 0.55},
                               {{64, 16, 4, 4}, 0.55}};

/// Blocks that a GPU of middling size runs side by side.
constexpr int64_t kMultiprocessors = 128;

GemmTile chooseTile(const GemmShape &s) {
  bool isWide = s.element.getIntOrFloatBitWidth() == 64;
  ArrayRef<Choice> choices = isWide ? ArrayRef(kTiles64) : ArrayRef(kTiles32);
  double least = 0;
  const Choice *best = nullptr;
  for (const Choice &choice : choices) {
    const GemmTile &tile = choice.tile;
    int64_t blocks = std::max<int64_t>(1, likely(s.batch)) *
                     llvm::divideCeil(likely(s.m), tile.rows) *
                     llvm::divideCeil(likely(s.n), tile.columns);
    double time = double(llvm::divideCeil(blocks, kMultiprocessors)) *
                  double(tile.rows * tile.columns) / choice.efficiency;
    if (!best || time < least) {
      least = time;
      best = &choice;
    }
  }
  return best->tile;
}

} // namespace

void emitFmaGemm(const ProductKernel &source, StringRef name, ModuleOp module) {
  FmaGemm(source, name, module, chooseTile(source.shape)).emit();
}

} // namespace tessera::lowering::simt
