// The packing launch of a Gemm: copies an operand, or its transpose, into
// panels of the workspace.
#include "lowering/CPU/GemmBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
namespace tessera::lowering::cpu {
namespace {

/// A matrix of `rows` by `columns` to be laid out in panels of `width` columns,
/// each with its rows one after another. The last panel has a stride of its
/// own. The source is stored as it is, or transposed.
struct PackJob {
  const GemmOperand &operand;
  bool transposed;
  int64_t batches, rows, columns, width, lastStride, rowBlock;

  int64_t fullColumns() const { return columns / width * width; }
  int64_t packedElements() const {
    int64_t rest = columns > fullColumns() ? lastStride : 0;
    return rows * (fullColumns() + rest);
  }
};

/// Elements a tile of packing should have: enough to be worth handing to a
/// thread, few enough to share the work.
constexpr int64_t kTileElements = 32 << 10;

/// Emits the tiles of one job into the packing launch.
class Packer {
public:
  Packer(const GemmEmission &e, FunctionBuilder &f, const PackJob &job,
         Value destination)
      : e(e), f(f), job(job), destination(destination), lanes(e.plan.lanes),
        type(e.vectorType()) {
    if (!job.operand.load)
      source = e.flatBuffer(f, f.arg(job.operand.buffer));
    chooseTiles();
  }

  int64_t tiles() const { return job.batches * rowTiles() * columnTiles(); }

  void emit(Value tile) {
    Value rowTile = f.rem(tile, rowTiles());
    Value rest = f.div(tile, rowTiles());
    Value columnTile = f.rem(rest, columnTiles());
    batch = job.batches == 1 ? f.index(0) : f.div(rest, columnTiles());
    base = f.mul(batch, job.packedElements());
    rowBegin = f.mul(rowTile, tileRows);
    rowEnd = rowTiles() == 1
                 ? f.index(job.rows)
                 : f.min(f.add(rowBegin, tileRows), f.index(job.rows));
    Value begin = f.mul(columnTile, tileColumns);
    int64_t full = job.fullColumns();
    if (full)
      panels(begin, columnTiles() == 1
                        ? f.index(full)
                        : f.min(f.add(begin, tileColumns), f.index(full)));
    if (full == job.columns)
      return;
    auto last = [&] {
      panel(f.index(full), job.columns - full, job.lastStride);
    };
    if (columnTiles() == 1)
      return last();
    f.when(f.equal(columnTile, columnTiles() - 1), last);
  }

private:
  int64_t rowTiles() const { return llvm::divideCeil(job.rows, tileRows); }
  int64_t columnTiles() const {
    return llvm::divideCeil(job.columns, tileColumns);
  }

  /// A transposed source keeps all its rows in one tile: its last block
  /// overlaps the one before.
  void chooseTiles() {
    if (job.transposed) {
      tileRows = job.rows;
      tileColumns = llvm::alignTo(
          std::max<int64_t>(kTileElements / job.rows, 1), job.width);
      return;
    }
    tileColumns = std::max<int64_t>(1, 512 / job.width) * job.width;
    tileRows = std::max<int64_t>(
        kTileElements / std::min(tileColumns, job.columns), 1);
  }

  void panels(Value begin, Value end) {
    if (job.transposed)
      return f.loop(begin, end, job.width,
                    [&](Value column) { panel(column, job.width, job.width); });
    // Rows outside: they are contiguous in the source.
    f.loop(rowBegin, rowEnd, 1, [&](Value row) {
      f.loop(begin, end, job.width,
             [&](Value column) { copyRow(row, column, job.width, job.width); });
    });
  }

  void panel(Value column, int64_t count, int64_t stride) {
    if (!job.transposed)
      return f.loop(rowBegin, rowEnd, 1,
                    [&](Value row) { copyRow(row, column, count, stride); });
    int64_t full = count / lanes * lanes;
    f.loop(f.index(0), f.index(full), lanes, [&](Value offset) {
      transposeColumns(column, offset, lanes, stride);
    });
    if (full < count)
      transposeColumns(column, f.index(full), count - full, stride);
  }

  Value target(Value row, Value column, Value offset, int64_t stride) {
    Value at = f.add(f.add(base, offset), f.mul(row, stride));
    if (job.rowBlock >= job.rows)
      return f.add(at, f.mul(column, job.rows));
    // Of the rows before the block, all panels stand before, but counted as
    // this panel's.
    Value blockBegin = f.mul(f.div(row, job.rowBlock), job.rowBlock);
    Value length =
        f.min(f.index(job.rowBlock), f.sub(f.index(job.rows), blockBegin));
    int64_t others = job.packedElements() / job.rows - stride;
    at = f.add(at, f.mul(blockBegin, others));
    return f.add(at, arith::MulIOp::create(f.b, f.loc, column, length));
  }

  void copyRow(Value row, Value column, int64_t count, int64_t stride) {
    int64_t full = count / lanes * lanes;
    auto copy = [&](Value offset, int64_t valid) {
      Value x = load(row, f.add(column, offset), valid);
      f.store(x, destination, target(row, column, offset, stride));
    };
    if (full <= 4 * lanes)
      for (int64_t offset = 0; offset < full; offset += lanes)
        copy(f.index(offset), lanes);
    else
      f.loop(f.index(0), f.index(full), lanes,
             [&](Value offset) { copy(offset, lanes); });
    if (full < count)
      copy(f.index(full), count - full);
  }

  /// Packs `valid` columns, up to a vector of them, for all rows.
  void transposeColumns(Value column, Value offset, int64_t valid,
                        int64_t stride) {
    Value first = f.add(column, offset);
    if (job.rows < lanes) {
      f.loop(f.index(0), f.index(job.rows), 1, [&](Value row) {
        Value x = f.zero(type);
        for (int64_t l = 0; l < valid; ++l)
          x = vector::InsertOp::create(f.b, f.loc, scalar(f.add(first, l), row),
                                       x, l);
        f.store(x, destination, target(row, column, offset, stride));
      });
      return;
    }
    f.loop(f.index(0), f.index(job.rows), lanes, [&](Value block) {
      Value row =
          job.rows % lanes ? f.min(block, f.index(job.rows - lanes)) : block;
      Values vectors;
      for (int64_t l = 0; l < lanes; ++l)
        vectors.push_back(l < valid ? load(f.add(first, l), row, lanes)
                                    : f.zero(type));
      transpose(vectors);
      for (int64_t l = 0; l < lanes; ++l)
        f.store(vectors[l], destination,
                target(f.add(row, l), column, offset, stride));
    });
  }

  /// Transposes a square in registers: each stage exchanges the off-diagonal
  /// blocks of one size.
  void transpose(Values &vectors) {
    for (int64_t size = lanes / 2; size > 0; size /= 2)
      for (int64_t low = 0; low < lanes; ++low) {
        if (low & size)
          continue;
        SmallVector<int64_t> lowPicks, highPicks;
        for (int64_t l = 0; l < lanes; ++l) {
          lowPicks.push_back(l & size ? lanes + l - size : l);
          highPicks.push_back(l & size ? lanes + l : l + size);
        }
        Value x = vectors[low], y = vectors[low + size];
        vectors[low] = f.shuffle(x, y, lowPicks);
        vectors[low + size] = f.shuffle(x, y, highPicks);
      }
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
    if (job.operand.load)
      return job.operand.load(f.b, f.loc, f.args(0, e.kernel.buffers.size()),
                              batch, row, col, count, mask);
    VectorType type = e.vectorType(count);
    int64_t stride = job.transposed ? job.rows : job.columns;
    Value at = f.add(f.mul(batch, job.rows * job.columns),
                     f.add(f.mul(row, stride), col));
    if (!mask)
      return f.load(type, source, at);
    return vector::MaskedLoadOp::create(f.b, f.loc, type, source,
                                        ValueRange(at), mask, f.zero(type));
  }

  const GemmEmission &e;
  FunctionBuilder &f;
  const PackJob &job;
  Value destination, source;
  int64_t lanes;
  VectorType type;
  int64_t tileRows = 1, tileColumns = 1;
  Value batch, base, rowBegin, rowEnd;
};

} // namespace

void emitPackLaunch(const GemmEmission &e) {
  const GemmShape &s = e.kernel.shape;
  FunctionBuilder f(e.module, e.loc, e.kernel.name + "_pack",
                    e.launchArguments(), /*isPrivate=*/false);
  PackJob jobA{e.kernel.a, s.transA,       s.sharedA ? 1 : s.batch, s.m,
               s.k,        e.plan.aStride, e.plan.aStride,          s.m};
  int64_t width = e.panelColumns();
  PackJob jobB{e.kernel.b,
               s.transB,
               s.sharedB ? 1 : s.batch,
               s.k,
               s.n,
               width,
               e.paddedColumns() - s.n / width * width,
               e.plan.kBlock};
  std::optional<Packer> a, b;
  if (e.plan.packA)
    a.emplace(e, f, jobA, e.packedA(f));
  if (e.plan.packB)
    b.emplace(e, f, jobB, e.packedB(f));
  int64_t tilesA = a ? a->tiles() : 0, tilesB = b ? b->tiles() : 0;
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
  e.finishLaunch(f, tilesA + tilesB);
}

} // namespace tessera::lowering::cpu
