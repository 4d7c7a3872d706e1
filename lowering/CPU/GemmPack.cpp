// Packing for a Gemm: operands, or their transposes, as panels.
#include "lowering/CPU/GemmPairs.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
namespace tessera::lowering::cpu {
namespace {

/// Elements a tile of packing should have: enough to be worth handing to a
/// thread, few enough to share the work.
constexpr int64_t kTileElements = 32 << 10;
/// A divisor of each step of k that is less than k.
constexpr int64_t kRowsTogether = 8;

/// Packs panels of one operand. The packed matrix has k as its rows; its
/// columns are those of B, or the rows of A.
class Packer {
public:
  Packer(const GemmEmission &e, FunctionBuilder &f, const GemmOperand &operand,
         const PanelLayout &layout, bool transposed, const PackTiling &tiling,
         Value destination)
      : e(e), f(f), operand(operand), layout(layout), transposed(transposed),
        tiling(tiling), destination(destination), lanes(e.plan.lanes),
        rows(e.kernel.shape.k), type(e.vectorType()) {
    if (!operand.load)
      source = e.flatBuffer(f, f.arg(operand.buffer));
  }

  int64_t tiles() const { return tiling.tiles(); }

  /// Emits tile `tile` of a packing launch.
  void emit(Value tile) {
    const PackTiling &t = tiling;
    Value rowTile = f.rem(tile, t.rowTiles);
    Value rest = f.div(tile, t.rowTiles);
    Value panelTile = f.rem(rest, t.panelTiles);
    Value batch = t.batches == 1 ? f.index(0) : f.div(rest, t.panelTiles);
    Value rowBegin = f.mul(rowTile, t.tileRows);
    Value rowEnd = t.rowTiles == 1
                       ? f.index(rows)
                       : f.min(f.add(rowBegin, t.tileRows), f.index(rows));
    Value begin = f.mul(panelTile, t.tilePanels);
    Value last = f.index(layout.panels());
    Value end =
        t.panelTiles == 1 ? last : f.min(f.add(begin, t.tilePanels), last);
    Value exponent = pack(batch, rowBegin, rowEnd, begin, end);
    if (exponent)
      memref::StoreOp::create(f.b, f.loc, exponent, exponentsOf(e, f),
                              f.add(tile, firstExponent));
  }

  /// Where the exponents of this operand's tiles begin.
  void putExponentsFrom(int64_t first) { firstExponent = first; }

  /// Packs rows [rowBegin, rowEnd) of the panels [begin, end). Of pairs,
  /// returns the least exponent.
  Value pack(Value batch, Value rowBegin, Value rowEnd, Value begin,
             Value end) {
    this->batch = batch;
    this->rowBegin = rowBegin;
    this->rowEnd = rowEnd;
    if (e.kernel.shape.pairs)
      exponent.emplace(f, type);
    Value split = f.index(layout.first.count);
    panels(begin, f.min(end, split), layout.first, 0);
    panels(f.max(begin, split), end, layout.second, layout.first.count);
    return exponent ? exponent->value() : Value();
  }

  /// Packs into a buffer of one step of k and of the panels from `firstPanel`
  /// on.
  void packLocally(Value firstPanel) { localPanel = firstPanel; }

private:
  void store(Value packed, Value at) {
    if (exponent)
      exponent->add(packed);
    f.store(packed, destination, at);
  }

  /// Packs the panels [begin, end), which are of one group; the group's first
  /// panel is `first`.
  void panels(Value begin, Value end, const PanelGroup &group, int64_t first) {
    if (!group.count)
      return;
    auto columnOf = [&](Value panel) {
      return f.add(f.mul(f.add(panel, -first), group.width),
                   first * layout.first.width);
    };
    if (transposed)
      return f.loop(begin, end, 1, [&](Value panel) {
        Value column = columnOf(panel);
        int64_t full = group.width / lanes * lanes;
        f.loop(f.index(0), f.index(full), lanes, [&](Value offset) {
          transposeColumns(panel, column, offset, lanes, group);
        });
        if (full < group.width)
          transposeColumns(panel, column, f.index(full), group.width - full,
                           group);
      });
    // Lanes past a panel's columns may hold anything: where the source goes on,
    // whole vectors are read.
    int64_t before = first * layout.first.width;
    int64_t room = layout.columns() - before - group.stride;
    int64_t whole = room < 0 ? 0 : room / group.width + 1;
    if (group.width % lanes == 0)
      whole = group.count;
    else if (operand.load)
      whole = 0;
    Value split = f.index(first + std::min(whole, group.count));
    if (whole > 0)
      copyPanels(begin, f.min(end, split), group, columnOf, group.stride);
    if (whole < group.count)
      copyPanels(f.max(begin, split), end, group, columnOf, group.width);
  }

  /// Packs panels, of which `width` columns are read.
  void copyPanels(Value begin, Value end, const PanelGroup &group,
                  llvm::function_ref<Value(Value)> columnOf, int64_t width) {
    // Some rows at a time: a panel gets them as one stretch, and their lines
    // are still at hand for the next panel.
    f.loop(rowBegin, rowEnd, kRowsTogether, [&](Value first) {
      Value last = f.min(f.add(first, kRowsTogether), rowEnd);
      f.loop(begin, end, 1, [&](Value panel) {
        Value column = columnOf(panel);
        f.loop(first, last, 1, [&](Value row) {
          for (int64_t offset = 0; offset < width; offset += lanes)
            store(load(row, f.add(column, offset),
                       std::min(width - offset, lanes)),
                  target(row, panel, f.index(offset), group));
        });
      });
    });
  }

  /// Where lane `offset` of a panel's row lies.
  Value target(Value row, Value panel, Value offset, const PanelGroup &group) {
    if (localPanel) {
      Value at = f.mul(f.sub(panel, localPanel), layout.first.width);
      at = f.add(e.timesStep(f, at, rowBegin), offset);
      return f.add(at, f.mul(f.sub(row, rowBegin), group.stride));
    }
    Value k = row, step = f.index(0);
    if (e.stepsOverK()) {
      step = f.mul(f.div(row, e.plan.kBlock), e.plan.kBlock);
      k = f.sub(row, step);
    }
    Value at =
        f.add(e.panelAt(f, layout, batch, step, panel), f.mul(k, group.stride));
    return f.add(at, offset);
  }

  /// Packs `valid` columns of a panel, up to a vector of them, for all rows.
  void transposeColumns(Value panel, Value column, Value offset, int64_t valid,
                        const PanelGroup &group) {
    Value first = f.add(column, offset);
    int64_t step = FunctionBuilder::squareColumns(type);
    if (rows < step)
      return gatherColumns(panel, first, offset, valid, group);
    // The last block overlaps the one before.
    Value lastBegin = f.add(rowEnd, -step);
    f.loop(rowBegin, rowEnd, step, [&](Value block) {
      Value row = rows % step ? f.min(block, lastBegin) : block;
      Values vectors = f.transposed(type, [&](int64_t l, int64_t count) {
        return l < valid ? loadLanes(f.add(first, l), row, count, Value())
                         : f.zero(e.vectorType(count));
      });
      // Only such an overlap straddles two steps of k.
      bool together = localPanel || !e.stepsOverK() || rows % step == 0;
      Value at = target(row, panel, offset, group);
      for (int64_t l = 0; l < step; ++l)
        store(vectors[l], together
                              ? f.add(at, l * group.stride)
                              : target(f.add(row, l), panel, offset, group));
    });
  }

  void gatherColumns(Value panel, Value first, Value offset, int64_t valid,
                     const PanelGroup &group) {
    f.loop(rowBegin, rowEnd, 1, [&](Value row) {
      Value x = f.zero(type);
      for (int64_t l = 0; l < valid; ++l)
        x = vector::InsertOp::create(f.b, f.loc, scalar(f.add(first, l), row),
                                     x, l);
      store(x, target(row, panel, offset, group));
    });
  }

  /// The source's elements at (row, col .. col + valid) of its storage, zeros
  /// beyond.
  Value load(Value row, Value col, int64_t valid) {
    if (valid == lanes)
      return loadLanes(row, col, lanes, Value());
    if (e.target.masks)
      return loadLanes(row, col, lanes, f.mask(valid, lanes));
    Value x = f.zero(type);
    for (int64_t l = 0; l < valid; ++l)
      x = vector::InsertOp::create(f.b, f.loc, scalar(row, f.add(col, l)), x,
                                   l);
    return x;
  }

  Value scalar(Value row, Value col) {
    return vector::ExtractOp::create(f.b, f.loc, loadLanes(row, col, 1, {}),
                                     int64_t(0));
  }

  Value loadLanes(Value row, Value col, int64_t count, Value mask) {
    if (operand.load)
      return operand.load(f.b, f.loc, f.args(0, e.kernel.buffers.size()), batch,
                          row, col, count, mask);
    VectorType type = e.vectorType(count);
    int64_t columns = layout.columns();
    int64_t stride = transposed ? rows : columns;
    Value at =
        f.add(f.mul(batch, rows * columns), f.add(f.mul(row, stride), col));
    if (!mask)
      return f.load(type, source, at);
    return vector::MaskedLoadOp::create(f.b, f.loc, type, source,
                                        ValueRange(at), mask, f.zero(type));
  }

  const GemmEmission &e;
  FunctionBuilder &f;
  const GemmOperand &operand;
  const PanelLayout layout;
  bool transposed;
  const PackTiling tiling;
  Value destination, source;
  int64_t lanes, rows;
  VectorType type;
  std::optional<LeastExponent> exponent; ///< Of pairs.
  int64_t firstExponent = 0;
  Value batch, rowBegin, rowEnd, localPanel;
};

} // namespace

PackTiling::PackTiling(const PanelLayout &layout, int64_t rows, bool transposed,
                       int64_t batches)
    : batches(batches) {
  int64_t width = std::max<int64_t>(layout.first.width, 1);
  // A transposed source keeps all its rows in one tile: its last block
  // overlaps the one before. Otherwise a tile reads longer stretches of rows.
  tilePanels =
      std::max<int64_t>(1, (transposed ? kTileElements / rows : 512) / width);
  tilePanels = std::min(tilePanels, layout.panels());
  tileRows =
      transposed
          ? rows
          : std::clamp<int64_t>(kTileElements / (tilePanels * width), 1, rows);
  rowTiles = llvm::divideCeil(rows, tileRows);
  panelTiles = llvm::divideCeil(layout.panels(), tilePanels);
}

void emitPackLaunch(const GemmEmission &e) {
  const GemmShape &s = e.kernel.shape;
  FunctionBuilder f(e.module, e.loc, e.kernel.name + "_pack",
                    e.launchArguments(), /*isPrivate=*/false);
  std::optional<Packer> a, b;
  if (e.plan.packA)
    a.emplace(e, f, e.kernel.a, e.panelsA(), !s.transA, e.tilingA(),
              e.packedA(f));
  if (e.plan.packB == Packing::Launch)
    b.emplace(e, f, e.kernel.b, e.panelsB(), s.transB, e.tilingB(),
              e.packedB(f));
  int64_t tilesA = a ? a->tiles() : 0, tilesB = b ? b->tiles() : 0;
  if (b)
    b->putExponentsFrom(tilesA);
  unsigned last = f.function.getNumArguments() - 1;
  f.loop(f.arg(last - 1), f.arg(last), 1, [&](Value tile) {
    if (!a || !b)
      return (a ? a : b)->emit(tile);
    Value isA = arith::CmpIOp::create(f.b, f.loc, arith::CmpIPredicate::ult,
                                      tile, f.index(tilesA));
    auto op = scf::IfOp::create(f.b, f.loc, isA, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(f.b);
    f.b.setInsertionPointToStart(op.thenBlock());
    a->emit(tile);
    f.b.setInsertionPointToStart(op.elseBlock());
    b->emit(f.sub(tile, f.index(tilesA)));
  });
  e.finishLaunch(f, formulaOf(tilesA + tilesB));
}

Value emitTilePacking(const GemmEmission &e, FunctionBuilder &f, Value batch,
                      Value k, Value begin, Value end, Value buffer) {
  const GemmShape &s = e.kernel.shape;
  Packer packer(e, f, e.kernel.b, e.panelsB(), s.transB, e.tilingB(), buffer);
  Value last = e.stepsOverK() ? f.min(f.add(k, e.plan.kBlock), f.index(s.k))
                              : f.index(s.k);
  packer.packLocally(begin);
  return packer.pack(batch, k, last, begin, end);
}

} // namespace tessera::lowering::cpu
