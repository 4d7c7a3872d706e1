// Chooses the schedule of a Gemm from its shape and facts of the target.
#include "lowering/CPU/GemmPlan.h"
#include "dialects/Tessera/IR/StandIns.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::lowering::cpu {
namespace {

// Measured on Zen 3. A tile should be worth handing to a thread, and there
// should be enough of them.
constexpr int64_t kTileOperations = 2 << 20;
constexpr int64_t kMostTiles = 32;
// Rows up to which B streams from memory once, and up to which a tile packs its
// own part of B for all rows.
constexpr int64_t kStreamRows = 16;
constexpr int64_t kTilePackingRows = 300;
constexpr int64_t kTilePackingBytes = 128 << 10;

class Planner {
public:
  Planner(const GemmShape &s, const GemmTarget &target, bool producesA,
          bool producesB, bool heavyStore)
      : s(s), target(target), producesA(producesA), producesB(producesB),
        bytes(s.element.getIntOrFloatBitWidth() / 8) {
    plan.lanes = std::max<int64_t>(target.vectorBits / 8 / bytes, 1);
    plan.kBlock = std::min(s.k, s.chunk());
    plan.storeLoop = heavyStore;
    plan.splitTail = !heavyStore || !target.masks;
    plan.prefetchC = s.m * s.n * bytes > target.l2;
  }

  GemmPlan choose() {
    chooseBlocks();
    if (s.k > 0)
      choosePacking();
    if (plan.streams)
      chooseStreamTiles();
    else
      chooseTiles();
    return plan;
  }

private:
  /// Rows of the tallest register block: with two vectors a row it fills the
  /// registers.
  int64_t maximalRows() const {
    if (target.registers >= 32)
      return 14;
    return target.fma ? 6 : 4;
  }

  /// Vectors of a register block of `rows` rows: as many as leave room for the
  /// operands.
  int64_t vectorsFor(int64_t rows) const {
    int64_t budget = target.registers >= 32 ? 28 : target.fma ? 12 : 8;
    return std::clamp<int64_t>(budget / rows, 1, 8);
  }

  void chooseBlocks() {
    int64_t most = maximalRows();
    // Blocks of one height are fewer functions to compile. That pays if B is
    // small: a large one is read from afar once for each block.
    for (int64_t rows = most; rows > most * 4 / 5 && !isLarge(); --rows)
      if (s.m % rows == 0) {
        most = rows;
        break;
      }
    plan.rowBlocks = llvm::divideCeil(s.m, most);
    plan.tallRows = llvm::divideCeil(s.m, plan.rowBlocks);
    plan.tallBlocks = s.m - plan.rowBlocks * (plan.tallRows - 1);
    plan.vectors = std::min<int64_t>(vectorsFor(plan.tallRows),
                                     llvm::divideCeil(s.n, plan.lanes));
  }

  /// B does not stay in the second-level cache while it is used.
  bool isLarge() const {
    int64_t size = s.k * s.n * bytes;
    return size > target.l2 / 2 || (size > target.l2 * 3 / 8 && s.m >= 192);
  }

  void choosePacking() {
    // Broadcasts of a transposed A step over whole rows, which costs a line and
    // perhaps a page each: many columns repay packing.
    plan.packA = producesA ||
                 (s.transA && s.m * bytes >= 1024 && s.k >= 256 && s.n >= 128);
    bool tailWithoutMasks = s.n % plan.lanes && !target.masks;
    bool large = isLarge();
    if (s.transB && !producesB && s.m <= maximalRows()) {
      // B is read once: it is transposed on the way to the registers.
      // Lines of rows a page apart share a set of the first-level cache, which
      // has room for those of one vector.
      bool alike = s.k * bytes % 4096 == 0;
      plan.vectors = std::min<int64_t>(plan.vectors, alike || s.m > 2 ? 1 : 2);
      plan.kBlock = s.k;
      return;
    }
    if (!s.transB && large && !tailWithoutMasks && s.m <= kStreamRows) {
      plan.streams = true;
      plan.packA |= s.m > 4;
      plan.rowBlocks = plan.tallBlocks = 1;
      plan.tallRows = s.m;
      return;
    }
    if (!producesB && !s.transB && !tailWithoutMasks && !large)
      return;
    plan.packB = s.m <= kTilePackingRows && canPackInTiles() ? Packing::Tile
                                                             : Packing::Launch;
    if (plan.packB == Packing::Launch)
      plan.prefetchB = 2048 / bytes;
  }

  /// A tile transposes whole squares of its step of k, of which the last may
  /// not be too short.
  bool canPackInTiles() const {
    int64_t last = s.k % plan.kBlock;
    return !s.transB || last == 0 || last >= 4;
  }

  void chooseTiles() {
    int64_t width = plan.vectors * plan.lanes;
    double operations = 2.0 * s.m * s.n * s.k;
    int64_t wanted = std::clamp<int64_t>(operations * s.batch / kTileOperations,
                                         1, kMostTiles);
    wanted = llvm::divideCeil(wanted, s.batch);
    int64_t columns = 2048 / bytes,
            blocks = std::max<int64_t>(96 / plan.tallRows, 1);
    if (plan.packB == Packing::Tile) {
      columns = kTilePackingBytes / (plan.kBlock * bytes);
      blocks = plan.rowBlocks;
    }
    columns = std::min(columns, s.n);
    int64_t columnTiles = llvm::divideCeil(s.n, columns);
    if (plan.packB != Packing::Tile)
      blocks = std::min<int64_t>(
          blocks, llvm::divideCeil(plan.rowBlocks * columnTiles, wanted));
    blocks = std::max<int64_t>(blocks, 1);
    int64_t rowTiles = llvm::divideCeil(plan.rowBlocks, blocks);
    // Narrower tiles would read B in shorter pieces, and A more often.
    int64_t narrow =
        std::max<int64_t>(64, llvm::divideCeil(s.n * rowTiles, wanted));
    columns = std::min(columns, narrow);
    plan.tileBlocks = blocks;
    plan.tileColumns = llvm::alignTo(columns, width);
  }

  /// The sums of a tile stay in the first-level cache; long stretches of rows
  /// come at memory's speed.
  void chooseStreamTiles() {
    int64_t columns = std::max<int64_t>(target.l1 / (s.m * bytes), 256);
    plan.tileColumns = llvm::alignTo(std::min(columns, s.n), 4 * plan.lanes);
  }

  const GemmShape &s;
  const GemmTarget &target;
  bool producesA, producesB;
  int64_t bytes;
  GemmPlan plan;
};

} // namespace

/// The schedule of a product that has a symbolic dimension, made from that for
/// middling sizes. Operands lie in memory, and what is packed depends on no
/// symbol.
static GemmPlan planSymbolic(const GemmShape &shape, const GemmTarget &target,
                             bool heavyStore) {
  GemmShape rough = shape;
  for (int64_t *size : {&rough.batch, &rough.m, &rough.n, &rough.k})
    *size = ir::likely(*size);
  GemmPlan plan = planGemm(rough, target, false, false, heavyStore);
  bool growsB = ir::isSymbolic(shape.k) ||
                (ir::isSymbolic(shape.batch) && !shape.sharedB);
  if (plan.streams || (!growsB && plan.packB != Packing::None) ||
      (shape.transB && !growsB))
    plan.packB = Packing::Launch;
  if (growsB || shape.k == 0)
    plan.packB = Packing::None;
  plan.packA = plan.streams = false;
  plan.prefetchB = 0;
  bool readsTransposed = shape.transB && plan.packB == Packing::None;
  plan.kBlock = readsTransposed           ? shape.k
                : ir::isSymbolic(shape.k) ? kProductChunk
                                          : std::min(shape.k, kProductChunk);
  int64_t most = target.registers >= 32 ? 14 : target.fma ? 6 : 4;
  plan.rowsGrow = ir::isSymbolic(shape.m);
  if (plan.rowsGrow || plan.tallRows > most) {
    plan.tallRows = plan.rowsGrow ? most : std::min(shape.m, most);
    plan.rowBlocks = llvm::divideCeil(rough.m, plan.tallRows);
    if (!plan.rowsGrow)
      plan.tallRows = llvm::divideCeil(rough.m, plan.rowBlocks);
    plan.tallBlocks = rough.m - plan.rowBlocks * (plan.tallRows - 1);
    plan.tileBlocks = std::max<int64_t>(96 / plan.tallRows, 1);
  }
  int64_t budget = target.registers >= 32 ? 28 : target.fma ? 12 : 8;
  plan.vectors = std::clamp<int64_t>(
      std::min(budget / plan.tallRows,
               int64_t(llvm::divideCeil(shape.n, plan.lanes))),
      1, readsTransposed ? 1 : 8);
  plan.tileColumns =
      llvm::alignTo(std::min<int64_t>(shape.n, 256), plan.vectors * plan.lanes);
  return plan;
}

bool storesAlongRows(const GemmShape &shape) {
  if (ir::isSymbolic(shape.m))
    return false;
  return ir::isSymbolic(shape.n) || (shape.n == 1 && shape.m > 1);
}

GemmTarget factsOf(const TargetInfo &target) {
  GemmTarget facts;
  facts.vectorBits = target.vectorBits;
  facts.registers = target.registers();
  facts.fma = target.hasFMA;
  facts.masks = target.hasAVX;
  if (target.hasAVX512BF16)
    facts.pairDot = PairDot::Instruction;
  else if (target.spellsOutBF16Dot)
    facts.pairDot = PairDot::SpelledOut;
  facts.l1 = target.l1;
  facts.l2 = target.l2;
  facts.l3 = target.l3;
  return facts;
}

GemmPlan planGemm(const GemmShape &shape, const GemmTarget &target,
                  bool producesA, bool producesB, bool heavyStore) {
  for (int64_t size : {shape.batch, shape.m, shape.n, shape.k})
    if (ir::isSymbolic(size))
      return planSymbolic(shape, target, heavyStore);
  return Planner(shape, target, producesA, producesB, heavyStore).choose();
}

} // namespace tessera::lowering::cpu
