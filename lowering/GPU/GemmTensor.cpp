// Products of f16 and bf16 on tensor cores: sums in f32 of exact products.
//
// Tiles of both operands come to shared memory as they lie in memory, by
// asynchronous copies where there are any, some tiles ahead of the one that is
// multiplied. Each row of a tile in shared memory has its pieces of 16 bytes
// exchanged by the row's number, so that the eight rows of a matrix that
// ldmatrix reads lie in different banks. One layout is read as it is, the other
// transposed on the way to registers.
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

/// Steps of k in a tile, and in a fragment.
constexpr int64_t kDepth = 32, kFragment = 16;
/// Bytes of a piece of a row, and elements of it.
constexpr int64_t kPieceBytes = 16, kPiece = 8;
/// Elements between the rows of sums in shared memory beyond those of the tile,
/// so that the rows of a fragment lie in different banks.
constexpr int64_t kPadding = 8;

/// How a block and its warps share a tile of the result.
struct WarpTile {
  int64_t rows, columns, warpRows, warpColumns;

  int64_t warpsDown() const { return rows / warpRows; }
  int64_t warpsAcross() const { return columns / warpColumns; }
  int64_t threads() const { return kWarp * warpsDown() * warpsAcross(); }
  int64_t stageBytes() const { return 2 * kDepth * (rows + columns); }
};

/// A narrow operand: the value that the product's operand is the f32 of.
std::optional<GemmInput> narrowInput(Value operand) {
  auto convert = operand.getDefiningOp<ConvertOp>();
  bool isDirect = bool(convert);
  while (!convert) {
    Operation *op = operand.getDefiningOp();
    if (!isa_and_nonnull<ReshapeOp, IdentityOp, StopGradientOp>(op))
      return std::nullopt;
    operand = op->getOperand(0);
    convert = operand.getDefiningOp<ConvertOp>();
  }
  GemmInput input = GemmInput::of(convert.getX());
  // A buffer's elements lie the same under any shape.
  if (!isNarrowFloat(tensorType(input.value).getElementType()) ||
      (!isDirect && input.buffer < 0))
    return std::nullopt;
  return input;
}

/// One operand's tiles, some stages of them, and its fragments.
class TensorOperand {
public:
  /// The warp `warp` of `warps` along the lines has every warps-th group of 16
  /// lines.
  TensorOperand(GemmBlock &block, unsigned number, GemmInput input,
                int64_t extent, int64_t stages, Value warp, int64_t warps,
                bool hasAsyncCopy, int64_t fromByte)
      : block(block), number(number), extent(extent), warps(warps),
        source(block, number, input, extent, kDepth, kPieceBytes,
               /*filler=*/0.0),
        buffer(input.buffer),
        isAsync(hasAsyncCopy && buffer >= 0 && source.width() == kPiece),
        tile(
            block.shared(b().getI16Type(), stages * kDepth * extent, fromByte)),
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
  bool movesPieces() const { return source.width() == kPiece; }

  /// The fragment of a group of 16 lines and 16 steps: four registers of pairs,
  /// of lines 0 to 7 and 8 to 15 for steps 0 to 7, then for steps 8 to 15. For
  /// B, of steps 0 to 7 and 8 to 15 for lines 0 to 7, then for 8 to 15.
  Values fragment(Value stage, int64_t group, int64_t step) {
    Value place =
        source.isKInnermost()
            ? math().add(places[step], group * warps * kFragment * kDepth)
            : math().add(places[group], step * kFragment * extent);
    place = math().add(math().mul(stage, kDepth * extent), place);
    Type word = b().getI32Type();
    auto words = LLVM::LLVMStructType::getLiteral(b().getContext(),
                                                  {word, word, word, word});
    auto layout =
        source.isKInnermost() ? NVVM::MMALayout::row : NVVM::MMALayout::col;
    Value loaded = NVVM::LdMatrixOp::create(
        b(), loc(), words, elementAt(shared, place), /*num=*/4, layout,
        NVVM::LdStMatrixShapeAttr::get(b().getContext(), 8, 8),
        NVVM::LdStMatrixEltType::B16);
    Values result;
    for (int64_t i = 0; i < 4; ++i)
      result.push_back(LLVM::ExtractValueOp::create(b(), loc(), loaded, i));
    return result;
  }

private:
  OpBuilder &b() { return block.b(); }
  Location loc() { return block.loc(); }
  IndexMath math() { return block.math(); }

  int64_t rowElements() const {
    return source.isKInnermost() ? kDepth : extent;
  }
  /// Rows that have all banks together.
  int64_t rowsOfBanks() const {
    return std::max<int64_t>(1, 64 / rowElements());
  }
  /// What the number of a piece in row `row` is exchanged by.
  Value exchange(Value row) {
    int64_t pieces = std::min<int64_t>(rowElements() / kPiece, 8);
    return math().rem(math().div(row, rowsOfBanks()), pieces);
  }

  /// The place of an access in the stages.
  Value placeOf(Value stage, GemmSource::Access access) {
    bool kInnermost = source.isKInnermost();
    Value row = kInnermost ? access.line : access.step;
    Value column = kInnermost ? access.step : access.line;
    // A piece is exchanged whole, whatever the width of the access.
    column = math().bitXor(column, math().mul(exchange(row), kPiece));
    Value at = math().add(math().mul(row, rowElements()), column);
    return math().add(math().mul(stage, kDepth * extent), at);
  }

  /// Where this thread's rows for ldmatrix begin: with k innermost for each
  /// fragment of k, else for each group of lines.
  void locate(Value warp) {
    Value lane = math().rem(block.launch.thread(), kWarp);
    Value row = math().rem(lane, 8), second = math().div(lane, 16),
          first = math().rem(math().div(lane, 8), 2);
    Value lineHalf = number == 0 ? first : second,
          stepHalf = number == 0 ? second : first;
    Value by = exchange(row);
    auto place = [&](Value row, Value piece) {
      piece = math().bitXor(piece, by);
      places.push_back(math().add(math().mul(row, rowElements()),
                                  math().mul(piece, kPiece)));
    };
    if (source.isKInnermost()) {
      Value line = math().add(math().mul(warp, kFragment),
                              math().add(math().mul(lineHalf, 8), row));
      for (int64_t step = 0; step < kDepth / kFragment; ++step)
        place(line, math().add(stepHalf, 2 * step));
      return;
    }
    Value step = math().add(math().mul(stepHalf, 8), row);
    for (int64_t group = 0; group < groupCount(); ++group)
      place(step, math().add(math().mul(math().add(warp, group * warps), 2),
                             lineHalf));
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
    return LLVM::GEPOp::create(b(), loc(), pointer.getType(), b().getI16Type(),
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
        narrow(tensorType(a.value).getElementType()),
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
                        stages * 2 * kDepth * tile.rows);
    // Many small accesses on their way take more registers.
    bool hasPieces = operands[0]->movesPieces() && operands[1]->movesPieces();
    block.launch.sideBySide(hasPieces ? 2 : 1);
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
      fill(math().number(stage), math().number(stage * kDepth), [] {});
    return block.loop(math().number(0), math().number(k), kDepth, sums,
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
    Value number = math().div(from, kDepth);
    Value stage = math().rem(number, stages);
    fill(math().rem(math().add(number, stages - 1), stages),
         math().add(from, (stages - 1) * kDepth),
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
    for (int64_t step = 0; step < kDepth / kFragment; ++step) {
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
    if (narrow.isF16())
      for (Value &word : words)
        word = LLVM::BitcastOp::create(
            b(), loc(), VectorType::get({2}, b().getF16Type()), word);
    return words;
  }

  /// 16 rows by 8 columns by 16 steps, in one instruction or two.
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
    auto type = narrow.isF16() ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
    int64_t shape[] = {16, 8, int64_t(8 * columns.size())};
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
  const bool hasDeepMma; ///< mma.sync takes 16 steps at once, not 8.
  const Type narrow;
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
                    const GpuTarget &target, ModuleOp module) {
  if (!source.shape.element.isF32())
    return false;
  auto a = narrowInput(source.operand(0)), b = narrowInput(source.operand(1));
  if (!a || !b)
    return false;
  Type type = tensorType(a->value).getElementType();
  if (type != tensorType(b->value).getElementType() ||
      (type.isBF16() && !target.hasBF16))
    return false;
  const WarpTile &tile = chooseTile(ArrayRef(kTiles), source.shape).tile;
  TensorGemm(source, name, target, module, tile, stagesOf(tile, target), *a, *b)
      .emit();
  return true;
}

} // namespace tessera::lowering::simt
