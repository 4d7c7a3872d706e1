// Products of f16 and bf16 on tensor cores: sums in f32 of exact products. So
// are those of f32 whose operands are rounded to tf32, where that is allowed.
//
// Tiles of both operands come to shared memory as they lie in memory, by
// asynchronous copies where there are any, some tiles ahead of the one that is
// multiplied. Each row of a tile in shared memory has its pieces of 16 bytes
// exchanged by the row's number, so that the eight rows of a matrix that
// ldmatrix reads lie in different banks. One layout is read as it is, the other
// transposed on the way to registers: by ldmatrix, which can do so with
// elements of 16 bits, or word by word. Elements of tf32 lie in shared memory
// as f32, and are rounded in registers.
#include "dialects/Tessera/IR/NarrowFloats.h"
#include "lowering/GPU/GemmSource.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering::simt {

namespace {

/// Lines in a fragment.
constexpr int64_t kFragment = 16;
/// Bytes of a piece of a row; a line has two in a fragment.
constexpr int64_t kPieceBytes = 16;
/// Fragments of k in a tile, and the bytes of a line that they are.
constexpr int64_t kFragments = 2, kDepthBytes = kFragments * 2 * kPieceBytes;
/// Bytes that all banks of shared memory have in a row.
constexpr int64_t kBankBytes = 128;
/// Elements between the rows of sums in shared memory beyond those of the tile,
/// so that the rows of a fragment lie in different banks.
constexpr int64_t kPadding = 8;

/// How a block and its warps share a tile of the result.
struct WarpTile {
  int64_t rows, columns, warpRows, warpColumns;

  int64_t warpsDown() const { return rows / warpRows; }
  int64_t warpsAcross() const { return columns / warpColumns; }
  int64_t threads() const { return kWarp * warpsDown() * warpsAcross(); }
  int64_t stageBytes() const { return kDepthBytes * (rows + columns); }
};

/// A narrow operand: the value that the product's operand is the f32 of.
std::optional<GemmInput> narrowInput(Value operand) {
  Value source = narrowSource(operand);
  if (!source)
    return std::nullopt;
  GemmInput input = GemmInput::of(source);
  // A buffer's elements lie the same under any shape.
  if (input.buffer < 0 && !operand.getDefiningOp<ConvertOp>())
    return std::nullopt;
  return input;
}

int64_t bytesOf(Type element) { return element.getIntOrFloatBitWidth() / 8; }

/// One operand's tiles, some stages of them, and its fragments.
class TensorOperand {
public:
  /// The warp `warp` of `warps` along the lines has every warps-th group of 16
  /// lines.
  TensorOperand(GemmBlock &block, unsigned number, GemmInput input,
                int64_t extent, int64_t stages, Value warp, int64_t warps,
                bool hasAsyncCopy, int64_t fromByte)
      : block(block), number(number), extent(extent), warps(warps),
        bytes(bytesOf(tensorType(input.value).getElementType())),
        piece(kPieceBytes / bytes), depth(kDepthBytes / bytes),
        source(block, number, input, extent, depth, kPieceBytes,
               /*filler=*/0.0),
        buffer(input.buffer),
        isAsync(hasAsyncCopy && buffer >= 0 && movesPieces()),
        tile(block.shared(source.element(), stages * depth * extent, fromByte)),
        shared(addressOf(tile, NVVM::NVVMMemorySpace::Shared)) {
    if (isAsync)
      global = addressOf(block.launch.inputs()[buffer],
                         NVVM::NVVMMemorySpace::Global);
    locate(warp);
  }

  int64_t groupCount() const { return extent / warps / kFragment; }

  /// Begins to read the tile from step `from` on into a stage: what is not
  /// copied asynchronously is returned, for store().
  Values load(Value stage, Value from) {
    Values loaded;
    if (source.isComputed())
      return loaded;
    for (int64_t i = 0; i < source.accesses(); ++i) {
      if (isAsync)
        copy(stage, from, i);
      else
        loaded.push_back(source.load(from, i));
    }
    return loaded;
  }

  void store(Value stage, Value from, ValueRange loaded) {
    auto put = [&](GemmSource::Access access, Value elements) {
      storeLanes(b(), loc(), elements, tile, placeOf(stage, access),
                 /*nonTemporal=*/false, /*mask=*/{}, /*isAligned=*/true);
    };
    for (auto [i, elements] : llvm::enumerate(loaded))
      put(source.access(i), elements);
    if (source.isComputed())
      source.compute(from, put);
  }
  bool isComputed() const { return source.isComputed(); }
  bool movesPieces() const { return source.width() == piece; }

  /// The fragment of a group of 16 lines and two pieces of steps: four
  /// registers, of lines 0 to 7 and 8 to 15 for the first piece, then for the
  /// second. For B, of both pieces for lines 0 to 7, then for 8 to 15.
  Values fragment(Value stage, int64_t group, int64_t step) {
    Value begin = math().mul(stage, depth * extent);
    Values words = readsWords() ? loadWords(begin, group, step)
                                : loadMatrices(begin, group, step);
    if (bytes == 4)
      for (Value &word : words)
        word = NVVM::ConvertFloatToTF32Op::create(
            b(), loc(), b().getI32Type(), word, NVVM::FPRoundingMode::RNA);
    return words;
  }

private:
  OpBuilder &b() { return block.b(); }
  Location loc() { return block.loc(); }
  IndexMath math() { return block.math(); }

  /// Whether fragments are read word by word, since ldmatrix transposes no
  /// elements of 32 bits.
  bool readsWords() const { return bytes == 4 && !source.isKInnermost(); }

  Values loadMatrices(Value begin, int64_t group, int64_t step) {
    Value place =
        source.isKInnermost()
            ? math().add(places[step], group * warps * kFragment * depth)
            : math().add(places[group], step * 2 * piece * extent);
    auto words = LLVM::LLVMStructType::getLiteral(
        b().getContext(), SmallVector<Type>(4, b().getI32Type()));
    auto layout =
        source.isKInnermost() ? NVVM::MMALayout::row : NVVM::MMALayout::col;
    Value loaded = NVVM::LdMatrixOp::create(
        b(), loc(), words, elementAt(shared, math().add(begin, place)),
        /*num=*/4, layout,
        NVVM::LdStMatrixShapeAttr::get(b().getContext(), 8, 8),
        NVVM::LdStMatrixEltType::B16);
    Values result;
    for (int64_t i = 0; i < 4; ++i) {
      Value word = LLVM::ExtractValueOp::create(b(), loc(), loaded, i);
      if (bytes == 4)
        word = LLVM::BitcastOp::create(b(), loc(), b().getF32Type(), word);
      result.push_back(word);
    }
    return result;
  }

  Values loadWords(Value begin, int64_t group, int64_t step) {
    Values result;
    for (int64_t i = 0; i < 4; ++i) {
      auto [lineHalf, stepHalf] =
          number == 0 ? std::pair(i % 2, i / 2) : std::pair(i / 2, i % 2);
      Value place =
          math().add(places[lineHalf], (step * 2 + stepHalf) * piece * extent +
                                           group * warps * kFragment);
      result.push_back(
          memref::LoadOp::create(b(), loc(), tile, math().add(begin, place)));
    }
    return result;
  }

  int64_t rowElements() const { return source.isKInnermost() ? depth : extent; }
  /// What the number of a piece in row `row` is exchanged by.
  Value exchange(Value row) {
    int64_t rowBytes = rowElements() * bytes;
    // Those that have all banks together.
    int64_t rows = std::max<int64_t>(1, kBankBytes / rowBytes);
    Value number = math().div(row, rows);
    // Eight lines are read of each of four rows.
    if (readsWords())
      return math().mul(
          math().rem(number,
                     std::min<int64_t>(rowBytes / (2 * kPieceBytes), 4)),
          2);
    return math().rem(number, std::min<int64_t>(rowBytes / kPieceBytes, 8));
  }

  /// The place of an access in the stages.
  Value placeOf(Value stage, GemmSource::Access access) {
    bool kInnermost = source.isKInnermost();
    Value row = kInnermost ? access.line : access.step;
    Value column = kInnermost ? access.step : access.line;
    // A piece is exchanged whole, whatever the width of the access.
    column = math().bitXor(column, math().mul(exchange(row), piece));
    Value at = math().add(math().mul(row, rowElements()), column);
    return math().add(math().mul(stage, depth * extent), at);
  }

  /// Where this thread's rows for ldmatrix begin: with k innermost for each
  /// fragment of k, else for each group of lines. Or where its words lie, for
  /// each half of a group of lines.
  void locate(Value warp) {
    Value lane = math().rem(block.launch.thread(), kWarp);
    if (readsWords())
      return locateWords(lane, math().mul(warp, kFragment));
    Value row = math().rem(lane, 8), second = math().div(lane, 16),
          first = math().rem(math().div(lane, 8), 2);
    Value lineHalf = number == 0 ? first : second,
          stepHalf = number == 0 ? second : first;
    Value by = exchange(row);
    auto place = [&](Value row, Value piece) {
      piece = math().bitXor(piece, by);
      places.push_back(math().add(math().mul(row, rowElements()),
                                  math().mul(piece, kPieceBytes / bytes)));
    };
    if (source.isKInnermost()) {
      Value line = math().add(math().mul(warp, kFragment),
                              math().add(math().mul(lineHalf, 8), row));
      for (int64_t step = 0; step < kFragments; ++step)
        place(line, math().add(stepHalf, 2 * step));
      return;
    }
    Value step = math().add(math().mul(stepHalf, 8), row);
    for (int64_t group = 0; group < groupCount(); ++group)
      place(step, math().add(math().mul(math().add(warp, group * warps), 2),
                             lineHalf));
  }

  void locateWords(Value lane, Value firstLine) {
    assert((groupCount() == 1 || warps % 2 == 0) &&
           "pieces are exchanged within 32 lines, which have one group each");
    Value row = math().rem(lane, piece);
    Value line = math().add(firstLine, math().div(lane, piece));
    Value by = math().mul(exchange(row), piece);
    for (int64_t half : {0, 1}) {
      Value column = math().bitXor(math().add(line, half * kFragment / 2), by);
      places.push_back(math().add(math().mul(row, extent), column));
    }
  }

  Value addressOf(Value buffer, NVVM::NVVMMemorySpace space) {
    Value number =
        memref::ExtractAlignedPointerAsIndexOp::create(b(), loc(), buffer);
    number = arith::IndexCastOp::create(b(), loc(), b().getI64Type(), number);
    auto pointer = [&](unsigned space) {
      return LLVM::LLVMPointerType::get(b().getContext(), space);
    };
    if (space == NVVM::NVVMMemorySpace::Shared)
      return LLVM::IntToPtrOp::create(b(), loc(), pointer(unsigned(space)),
                                      number);
    Value generic = LLVM::IntToPtrOp::create(b(), loc(), pointer(0), number);
    return LLVM::AddrSpaceCastOp::create(b(), loc(), pointer(unsigned(space)),
                                         generic);
  }

  Value elementAt(Value pointer, Value position) {
    Value index =
        arith::IndexCastOp::create(b(), loc(), b().getI64Type(), position);
    return LLVM::GEPOp::create(b(), loc(), pointer.getType(), source.element(),
                               pointer, ArrayRef<LLVM::GEPArg>{index});
  }

  /// Steps beyond the last are filled with zeros instead of read.
  void copy(Value stage, Value from, int64_t i) {
    GemmSource::Place at = source.place(from, i);
    Value bytes;
    if (at.exists) {
      auto number = [&](int64_t value) -> Value {
        return arith::ConstantOp::create(b(), loc(),
                                         b().getI32IntegerAttr(value));
      };
      bytes = arith::SelectOp::create(b(), loc(), at.exists,
                                      number(kPieceBytes), number(0));
    }
    NVVM::CpAsyncOp::create(b(), loc(),
                            elementAt(shared, placeOf(stage, source.access(i))),
                            elementAt(global, at.position), kPieceBytes,
                            NVVM::LoadCacheModifierKind::CG, bytes);
  }

  GemmBlock &block;
  const unsigned number;
  const int64_t extent, warps;
  /// Bytes of an element, elements of a piece, and steps of k in a tile.
  const int64_t bytes, piece, depth;
  GemmSource source;
  const int64_t buffer;
  const bool isAsync;
  Value tile, shared, global;
  Values places;
};

class TensorGemm {
public:
  TensorGemm(const ProductKernel &source, StringRef name,
             const GpuTarget &target, ModuleOp module, WarpTile tile,
             int64_t stages, GemmInput a, GemmInput b)
      : tile(tile), stages(stages), hasAsyncCopy(target.hasAsyncCopy),
        hasDeepMma(target.major >= 8),
        element(tensorType(a.value).getElementType()),
        depth(kDepthBytes / bytesOf(element)),
        sharedBytes(stages * tile.stageBytes()),
        block(source, name, module, tile.rows, tile.columns, tile.threads(),
              sharedBytes) {
    Value thread = block.launch.thread();
    lane = math().rem(thread, kWarp);
    Value warp = math().div(thread, kWarp);
    warpDown = math().div(warp, tile.warpsAcross());
    warpAcross = math().rem(warp, tile.warpsAcross());
    operands[0].emplace(block, 0, a, tile.rows, stages, warpDown,
                        tile.warpsDown(), hasAsyncCopy, 0);
    operands[1].emplace(block, 1, b, tile.columns, stages, warpAcross,
                        tile.warpsAcross(), hasAsyncCopy,
                        stages * kDepthBytes * tile.rows);
    // What is on its way through registers, above all in many small accesses,
    // leaves no room for a second block.
    bool hasPieces = operands[0]->movesPieces() && operands[1]->movesPieces();
    block.launch.sideBySide(hasPieces && hasAsyncCopy ? 2 : 1);
  }

  void emit() {
    Values sums = allSums();
    block.finish(slabs(), tile.columns + kPadding,
                 [&](Value slab, Value buffer) { write(sums, slab, buffer); });
  }

private:
  OpBuilder &b() { return block.b(); }
  Location loc() { return block.loc(); }
  IndexMath math() { return block.math(); }
  BlockLaunch &launch() { return block.launch; }

  // A warp's sums: for each group of 16 rows and each 8 columns, four.
  int64_t rowGroups() const { return tile.warpRows / kFragment; }
  int64_t columnGroups() const { return tile.warpColumns / 8; }

  Value zero() {
    return arith::ConstantOp::create(b(), loc(), b().getF32FloatAttr(0));
  }

  Values allSums() {
    Values sums(rowGroups() * columnGroups() * 4, zero());
    int64_t k = block.shape().k;
    if (k == 0)
      return sums;
    for (int64_t stage = 0; stage + 1 < stages; ++stage)
      fill(math().number(stage), math().number(stage * depth), [] {});
    return block.loop(math().number(0), math().number(k), depth, sums,
                      [&](Value from, ValueRange carried) {
                        Values sums(carried);
                        step(from, sums);
                        return sums;
                      });
  }

  /// Multiplies one tile, while that which comes some stages later is on its
  /// way to where the one before lay.
  void step(Value from, Values &sums) {
    if (hasAsyncCopy)
      NVVM::CpAsyncWaitGroupOp::create(b(), loc(), int32_t(stages - 2));
    block.launch.barrier();
    Value number = math().div(from, depth);
    Value stage = math().rem(number, stages);
    fill(math().rem(math().add(number, stages - 1), stages),
         math().add(from, (stages - 1) * depth),
         [&] { multiply(stage, sums); });
  }

  /// Reads the tile from step `from` on, if there is one, into a stage: what
  /// goes through registers arrives there while `meanwhile` is computed.
  void fill(Value stage, Value from, llvm::function_ref<void()> meanwhile) {
    Value exists = math().less(from, block.shape().k);
    Values loads[2];
    auto load = [&] {
      Values all;
      for (unsigned number : {0, 1}) {
        loads[number] = operands[number]->load(stage, from);
        llvm::append_range(all, loads[number]);
      }
      return all;
    };
    auto nothing = [&] {
      Values all;
      for (const Values &values : loads)
        for (Value value : values)
          all.push_back(splat(b(), loc(), value.getType(), 0));
      return all;
    };
    Values loaded = block.choose(exists, load, nothing);
    if (hasAsyncCopy)
      NVVM::CpAsyncCommitGroupOp::create(b(), loc());
    meanwhile();
    if (loaded.empty() && !operands[0]->isComputed() &&
        !operands[1]->isComputed())
      return;
    launch().openIf(exists);
    operands[0]->store(stage, from,
                       ArrayRef(loaded).take_front(loads[0].size()));
    operands[1]->store(stage, from,
                       ArrayRef(loaded).drop_front(loads[0].size()));
    launch().close();
  }

  void multiply(Value stage, Values &sums) {
    for (int64_t step = 0; step < kFragments; ++step) {
      SmallVector<Values> rows, columns;
      for (int64_t i = 0; i < rowGroups(); ++i)
        rows.push_back(pairs(operands[0]->fragment(stage, i, step)));
      for (int64_t j = 0; j < columnGroups() / 2; ++j)
        columns.push_back(pairs(operands[1]->fragment(stage, j, step)));
      for (int64_t i = 0; i < rowGroups(); ++i)
        for (int64_t j = 0; j < columnGroups(); ++j) {
          MutableArrayRef<Value> sum(&sums[(i * columnGroups() + j) * 4], 4);
          multiply(rows[i], ArrayRef(columns[j / 2]).slice(j % 2 * 2, 2), sum);
        }
    }
  }

  /// Registers in the type that mma.sync takes.
  Values pairs(Values words) {
    if (element.isF16())
      for (Value &word : words)
        word = LLVM::BitcastOp::create(
            b(), loc(), VectorType::get({2}, b().getF16Type()), word);
    return words;
  }

  /// 16 rows by 8 columns by two pieces, in one instruction or two.
  void multiply(ArrayRef<Value> rows, ArrayRef<Value> columns,
                MutableArrayRef<Value> sum) {
    if (hasDeepMma)
      return mma(rows, columns, sum);
    for (int64_t half : {0, 1})
      mma(rows.slice(2 * half, 2), columns.slice(half, 1), sum);
  }

  void mma(ArrayRef<Value> rows, ArrayRef<Value> columns,
           MutableArrayRef<Value> sum) {
    Type f32 = b().getF32Type();
    auto result = LLVM::LLVMStructType::getLiteral(b().getContext(),
                                                   {f32, f32, f32, f32});
    auto type = element.isF16()    ? NVVM::MMATypes::f16
                : element.isBF16() ? NVVM::MMATypes::bf16
                                   : NVVM::MMATypes::tf32;
    int64_t piece = kPieceBytes / bytesOf(element);
    int64_t shape[] = {16, 8, piece * int64_t(columns.size())};
    Value product = NVVM::MmaOp::create(
        b(), loc(), result, rows, columns, sum, shape, std::nullopt,
        std::nullopt, std::array{type, type},
        std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
    for (auto [i, value] : llvm::enumerate(sum))
      value = LLVM::ExtractValueOp::create(b(), loc(), product, i);
  }

  /// How often the tile goes through the shared memory of the operands.
  int64_t slabs() const {
    int64_t bytes = tile.rows * (tile.columns + kPadding) * 4, count = 1;
    while (bytes / count > sharedBytes)
      count *= 2;
    assert(rowGroups() % count == 0 && "a slab has whole groups of rows");
    return count;
  }

  /// Of the four sums of a lane, two are neighbours in row lane / 4, and two
  /// eight rows below.
  void write(ArrayRef<Value> sums, Value slab, Value buffer) {
    int64_t perSlab = rowGroups() / slabs(), stride = tile.columns + kPadding;
    Value row =
        math().add(math().mul(warpDown, kFragment), math().div(lane, 4));
    Value column = math().add(math().mul(warpAcross, kFragment),
                              math().mul(math().rem(lane, 4), 2));
    Value first = math().add(math().mul(row, stride), column);
    auto type = VectorType::get({2}, b().getF32Type());
    for (int64_t i = 0; i < perSlab; ++i)
      for (int64_t j = 0; j < columnGroups(); ++j)
        for (int64_t half : {0, 1}) {
          auto sumsOf = [&](int64_t number) -> Value {
            int64_t group = number * perSlab + i;
            auto pair =
                sums.slice((group * columnGroups() + j) * 4 + 2 * half, 2);
            return vector::FromElementsOp::create(b(), loc(), type, pair);
          };
          Value sum = sumsOf(0);
          for (int64_t number = 1; number < slabs(); ++number)
            sum = arith::SelectOp::create(b(), loc(), math().less(slab, number),
                                          sum, sumsOf(number));
          int64_t down = i * tile.warpsDown() * kFragment + 8 * half;
          int64_t across = j / 2 * tile.warpsAcross() * kFragment + j % 2 * 8;
          storeLanes(b(), loc(), sum, buffer,
                     math().add(first, down * stride + across),
                     /*nonTemporal=*/false, /*mask=*/{}, /*isAligned=*/true);
        }
  }

  const WarpTile tile;
  const int64_t stages;
  const bool hasAsyncCopy;
  const bool hasDeepMma; ///< mma.sync takes two pieces at once, not one.
  const Type element;    ///< Of the operands: f16, bf16, or f32 for tf32.
  const int64_t depth;   ///< Steps of k in a tile.
  const int64_t sharedBytes;
  GemmBlock block;
  Value lane, warpDown, warpAcross;
  std::optional<TensorOperand> operands[2];
};

/// A tile and how much of the peak it reaches if there are blocks enough.
struct Choice {
  WarpTile tile;
  double efficiency;
};

constexpr Choice kTiles[] = {{{128, 128, 64, 32}, 1},
                             {{64, 64, 32, 32}, 0.6},
                             {{32, 32, 16, 16}, 0.25},
                             {{16, 64, 16, 32}, 0.25},
                             {{64, 16, 32, 16}, 0.25}};

/// As many as there is room for beside a second block, up to four.
int64_t stagesOf(const WarpTile &tile, const GpuTarget &target) {
  if (!target.hasAsyncCopy)
    return 2;
  int64_t room = target.sharedPerMultiprocessor / 2 - target.sharedReserved;
  return std::clamp<int64_t>(room / tile.stageBytes(), 3, 4);
}

} // namespace

bool emitTensorGemm(const ProductKernel &source, StringRef name,
                    const TargetInfo &target, ModuleOp module) {
  if (!source.shape.element.isF32())
    return false;
  const GpuTarget &gpu = *target.gpu;
  Value operands[] = {source.operand(0), source.operand(1)};
  auto a = narrowInput(operands[0]), b = narrowInput(operands[1]);
  bool areNarrow = a && b;
  if (areNarrow) {
    Type type = tensorType(a->value).getElementType();
    areNarrow = type == tensorType(b->value).getElementType() &&
                (!type.isBF16() || gpu.hasBF16);
  }
  // Whatever the sizes: rows have the same bits in any batch.
  if (!areNarrow) {
    if (!target.allowsTF32)
      return false;
    a = GemmInput::of(operands[0]), b = GemmInput::of(operands[1]);
  }
  const WarpTile &tile = chooseTile(ArrayRef(kTiles), source.shape).tile;
  TensorGemm(source, name, gpu, module, tile, stagesOf(tile, gpu), *a, *b)
      .emit();
  return true;
}

} // namespace tessera::lowering::simt
