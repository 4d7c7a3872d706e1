// The compute launch of a Gemm, tiles of register blocks, and the entry points.
#include "lowering/CPU/Gemm.h"
#include "lowering/CPU/GemmBuilder.h"
#include "lowering/CPU/GemmPairs.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace mlir;
namespace tessera::lowering::cpu {

bool GemmEmission::totalsInResult() const {
  if (kernel.result < 0 || kernel.shape.n % plan.lanes)
    return false;
  return kernel.buffers[kernel.result].getElementType() == element();
}

int64_t GemmEmission::totalColumns() const {
  return llvm::alignTo(kernel.shape.n, plan.lanes);
}

MemRefType GemmEmission::totalsType() const {
  return flatType(kernel.shape.batch * kernel.shape.m * totalColumns());
}

int64_t GemmEmission::totalsBytes() const {
  if (!stepsOverK() || plan.streams || totalsInResult())
    return 0;
  return totalsType().getNumElements() * elementBytes();
}

Value GemmEmission::totals(FunctionBuilder &f) const {
  if (totalsInResult())
    return flatBuffer(f, f.arg(kernel.result));
  return workspace(f, packedABytes() + packedBBytes(), totalsBytes());
}

Value GemmEmission::totalsAt(FunctionBuilder &f, Value batch, Value row,
                             Value column) const {
  Value rows = f.add(f.mul(batch, kernel.shape.m), row);
  return f.add(f.mul(rows, totalColumns()), column);
}

PanelLayout GemmEmission::panelsA() const {
  int64_t stride = llvm::alignTo(plan.tallRows, plan.lanes);
  PanelLayout layout;
  layout.first = {plan.tallBlocks, plan.tallRows, stride};
  layout.second = {plan.rowBlocks - plan.tallBlocks, plan.tallRows - 1, stride};
  return layout;
}

PanelLayout GemmEmission::panelsB() const {
  int64_t width = blockColumns(), full = kernel.shape.n / width;
  int64_t rest = kernel.shape.n % width;
  PanelLayout layout;
  layout.first = {full, width, width};
  if (rest)
    layout.second = {1, rest, int64_t(llvm::alignTo(rest, plan.lanes))};
  return layout;
}

int64_t GemmEmission::packedBytes(const PanelLayout &layout,
                                  bool shared) const {
  const GemmShape &s = kernel.shape;
  int64_t elements = (shared ? 1 : s.batch) * s.k * layout.packedColumns();
  return llvm::alignTo(elements * elementBytes(), 64);
}

PackTiling GemmEmission::tilingA() const {
  const GemmShape &s = kernel.shape;
  return PackTiling(panelsA(), s.k, !s.transA, s.sharedA ? 1 : s.batch);
}

PackTiling GemmEmission::tilingB() const {
  const GemmShape &s = kernel.shape;
  return PackTiling(panelsB(), s.k, s.transB, s.sharedB ? 1 : s.batch);
}

int64_t GemmEmission::exponentBytes() const {
  if (!kernel.shape.pairs)
    return 0;
  int64_t tiles = tilingA().tiles();
  if (plan.packB == Packing::Launch)
    tiles += tilingB().tiles();
  return llvm::alignTo(4 * tiles, 64);
}

int64_t GemmEmission::packedABytes() const {
  return plan.packA ? packedBytes(panelsA(), kernel.shape.sharedA) : 0;
}

int64_t GemmEmission::packedBBytes() const {
  return plan.packB == Packing::Launch
             ? packedBytes(panelsB(), kernel.shape.sharedB)
             : 0;
}

Value GemmEmission::panelAt(FunctionBuilder &f, const PanelLayout &layout,
                            Value batch, Value k, Value panel) const {
  const GemmShape &s = kernel.shape;
  int64_t columns = layout.packedColumns();
  Value at = f.add(f.mul(batch, s.k * columns), f.mul(k, columns));
  return f.add(at, timesStep(f, f.mul(panel, layout.first.stride), k));
}

Value GemmEmission::timesStep(FunctionBuilder &f, Value x, Value k) const {
  int64_t step = std::min(plan.kBlock, kernel.shape.k);
  if (kernel.shape.k % step == 0)
    return f.mul(x, step);
  Value length = f.min(f.index(step), f.sub(f.index(kernel.shape.k), k));
  return arith::MulIOp::create(f.b, f.loc, x, length);
}

SmallVector<Type> GemmEmission::launchArguments() const {
  OpBuilder b(loc.getContext());
  SmallVector<Type> types(kernel.buffers.begin(), kernel.buffers.end());
  if (int64_t bytes = workspaceBytes())
    types.push_back(MemRefType::get({bytes}, b.getI8Type()));
  types.append(2, b.getIndexType());
  return types;
}

void GemmEmission::finishLaunch(FunctionBuilder &f,
                                const runtime::SizeFormula &tiles) const {
  f.finish();
  MLIRContext *context = f.b.getContext();
  f.function->setAttr("tessera.launch", attributeOf(context, tiles));
  if (int64_t bytes = workspaceBytes())
    f.function->setAttr("tessera.workspace",
                        attributeOf(context, formulaOf(bytes)));
  for (unsigned i = 0; i < f.function.getNumArguments() - 2; ++i)
    f.function.setArgAttr(i, "llvm.noalias", f.b.getUnitAttr());
}

Value GemmEmission::flatBuffer(FunctionBuilder &f, Value value) const {
  int64_t elements = cast<MemRefType>(value.getType()).getNumElements();
  return memref::ReinterpretCastOp::create(
      f.b, f.loc, flatType(elements), value, /*offset=*/int64_t(0),
      ArrayRef<int64_t>{elements}, ArrayRef<int64_t>{1});
}

Value GemmEmission::workspace(FunctionBuilder &f, int64_t from,
                              int64_t bytes) const {
  return memref::ViewOp::create(f.b, f.loc, flatType(bytes / elementBytes()),
                                f.arg(kernel.buffers.size()), f.index(from),
                                ValueRange());
}

void GemmEmission::store(FunctionBuilder &f, ValueRange buffers, Value batch,
                         Value row, Value column, Value x,
                         int64_t valid) const {
  if (valid == plan.lanes)
    return kernel.store(f.b, f.loc, buffers, batch, row, column, x, {});
  if (!plan.splitTail)
    return kernel.store(f.b, f.loc, buffers, batch, row, column, x,
                        f.mask(valid, plan.lanes));
  int64_t at = 0;
  for (int64_t lanes = plan.lanes / 2; lanes > 0; lanes /= 2) {
    if (!(valid & lanes))
      continue;
    SmallVector<int64_t> picks;
    for (int64_t l = 0; l < lanes; ++l)
      picks.push_back(at + l);
    kernel.store(f.b, f.loc, buffers, batch, row, f.add(column, at),
                 f.shuffle(x, x, picks), {});
    at += lanes;
  }
}

namespace {

/// Builds the launch that computes: a loop over tiles around calls of register
/// blocks.
class ComputeLaunchBuilder {
public:
  ComputeLaunchBuilder(const GemmEmission &e)
      : e(e), s(e.kernel.shape), p(e.plan),
        f(e.module, e.loc, e.kernel.name, e.launchArguments(),
          /*isPrivate=*/false),
        width(e.blockColumns()), fullColumns(s.n / width * width),
        rowTiles(llvm::divideCeil(p.rowBlocks, p.tileBlocks)),
        columnTiles(llvm::divideCeil(s.n, p.tileColumns)) {}

  void build() {
    a = p.packA ? e.packedA(f) : inMemory(e.kernel.a);
    if (p.packB == Packing::None)
      b = inMemory(e.kernel.b);
    else if (p.packB == Packing::Launch)
      b = e.packedB(f);
    else
      b = f.scratch(p.kBlock * std::min(p.tileColumns, e.totalColumns()),
                    e.element());
    if (e.stepsOverK())
      totals = e.totals(f);
    if (s.pairs)
      readExponents();
    unsigned last = f.function.getNumArguments() - 1;
    f.loop(f.arg(last - 1), f.arg(last), 1, [&](Value tile) {
      locate(tile);
      steps();
    });
    if (p.rowsGrow)
      e.finishLaunch(f, ceilOf(s.m, tileRows(), s.batch * columnTiles));
    else
      e.finishLaunch(f, formulaOf(s.batch * rowTiles * columnTiles));
  }

private:
  /// An operand that is not packed. One that is computed has no elements then,
  /// and is not read.
  Value inMemory(const GemmOperand &operand) {
    if (operand.buffer < 0)
      return f.scratch(1, e.element());
    return e.flatBuffer(f, f.arg(operand.buffer));
  }

  /// What packing found of whole operands.
  void readExponents() {
    Value exponents = exponentsOf(e, f);
    int64_t ofA = e.tilingA().tiles();
    exponentA = leastOf(f, exponents, 0, ofA);
    if (p.packB == Packing::Launch)
      isExact = isDotExact(f, exponentA,
                           leastOf(f, exponents, ofA, e.tilingB().tiles()));
  }

  /// The steps of k, of which there is one for no elements too.
  void steps() {
    if (!ir::isSymbolic(s.k))
      return f.loop(f.index(0), f.index(s.k ? s.k : 1), s.k ? p.kBlock : 1,
                    [&](Value k) { step(k); });
    if (!e.stepsOverK())
      return step(f.index(0));
    f.loop(f.index(0), f.max(f.index(s.k), f.index(1)), p.kBlock,
           [&](Value k) { step(k); });
  }

  /// Rows of a tile where their number depends on a symbol.
  int64_t tileRows() const { return p.tallRows * p.tileBlocks; }

  void locateGrowing(Value tile) {
    columnTile = f.rem(tile, columnTiles);
    Value rest = f.div(tile, columnTiles);
    batch = f.rem(rest, s.batch);
    firstBlock = f.mul(f.div(rest, s.batch), tileRows());
    endBlock = f.min(f.add(firstBlock, tileRows()), f.index(s.m));
    firstColumn = f.mul(columnTile, p.tileColumns);
  }

  /// Full register blocks, then smaller ones.
  void growingRows(llvm::function_ref<void(Value, Value, int64_t)> body) {
    Value from = firstBlock;
    SmallVector<int64_t> heights{p.tallRows, 2, 1};
    if (p.tallRows > 8)
      heights.insert(heights.begin() + 1, 4);
    for (int64_t height : heights) {
      Value left = f.rem(f.sub(endBlock, from), height);
      Value to = height == 1 ? endBlock : f.sub(endBlock, left);
      f.loop(from, to, height, [&](Value row) { body(Value(), row, height); });
      from = to;
    }
  }

  /// Tiles of one column range follow each other, since they share the larger
  /// block of B.
  void locate(Value tile) {
    if (p.rowsGrow)
      return locateGrowing(tile);
    Value rowTile = f.rem(tile, rowTiles);
    Value rest = f.div(tile, rowTiles);
    columnTile = f.rem(rest, columnTiles);
    batch = s.batch == 1 ? f.index(0) : f.div(rest, columnTiles);
    firstBlock = f.mul(rowTile, p.tileBlocks);
    endBlock = rowTiles == 1 ? f.index(p.rowBlocks)
                             : f.min(f.add(firstBlock, p.tileBlocks),
                                     f.index(p.rowBlocks));
    firstColumn = f.mul(columnTile, p.tileColumns);
  }

  void step(Value k) {
    if (p.packB == Packing::Tile) {
      Value begin = f.div(firstColumn, width);
      Value end = f.min(f.add(begin, p.tileColumns / width),
                        f.index(e.panelsB().panels()));
      Value exponentB = emitTilePacking(e, f, s.sharedB ? f.index(0) : batch, k,
                                        begin, end, b);
      if (s.pairs)
        isExact = isDotExact(f, exponentA, exponentB);
    }
    if (p.columnsOuter)
      columns([&](Value column, RegisterBlock block) {
        rows([&](Value rowBlock, Value row, int64_t count) {
          call(rowBlock, row, column, {count, block.vectors, block.tail}, k);
        });
      });
    else
      rows([&](Value rowBlock, Value row, int64_t count) {
        columns([&](Value column, RegisterBlock block) {
          call(rowBlock, row, column, {count, block.vectors, block.tail}, k);
        });
      });
  }

  void rows(llvm::function_ref<void(Value, Value, int64_t)> body) {
    if (p.rowsGrow)
      return growingRows(body);
    int64_t shortRows = p.tallRows - 1;
    Value tall = f.index(p.tallBlocks);
    f.loop(firstBlock, f.min(endBlock, tall), 1, [&](Value block) {
      body(block, f.mul(block, p.tallRows), p.tallRows);
    });
    if (p.tallBlocks < p.rowBlocks)
      f.loop(f.max(firstBlock, tall), endBlock, 1, [&](Value block) {
        body(block, f.add(f.mul(block, shortRows), p.tallBlocks), shortRows);
      });
  }

  void columns(llvm::function_ref<void(Value, RegisterBlock)> body) {
    if (fullColumns) {
      Value end = columnTiles == 1 ? f.index(fullColumns)
                                   : f.min(f.add(firstColumn, p.tileColumns),
                                           f.index(fullColumns));
      f.loop(firstColumn, end, width,
             [&](Value column) { body(column, {0, p.vectors, p.lanes}); });
    }
    int64_t rest = s.n - fullColumns;
    if (!rest)
      return;
    int64_t vectors = llvm::divideCeil(rest, p.lanes);
    auto remainder = [&] {
      body(f.index(fullColumns), {0, vectors, rest - (vectors - 1) * p.lanes});
    };
    if (columnTiles == 1)
      return remainder();
    f.when(f.equal(columnTile, columnTiles - 1), remainder);
  }

  void call(Value rowBlock, Value row, Value column, RegisterBlock block,
            Value k) {
    ReadStrides strides;
    Value aAt, bAt;
    if (p.packA) {
      strides.aRow = 1;
      strides.aK = e.panelsA().first.stride;
      aAt = e.panelAt(f, e.panelsA(), s.sharedA ? f.index(0) : batch, k,
                      rowBlock);
    } else {
      strides.aRow = s.transA ? 1 : s.k;
      strides.aK = s.transA ? s.m : 1;
      aAt = f.add(
          f.add(f.mul(batch, s.sharedA ? 0 : s.m * s.k), f.mul(k, strides.aK)),
          f.mul(row, strides.aRow));
    }
    strides.bK = p.packB == Packing::None ? s.n : block.vectors * p.lanes;
    Value bBatch = s.sharedB ? f.index(0) : batch;
    if (p.packB == Packing::None)
      bAt = f.add(f.add(f.mul(bBatch, s.k * s.n), f.mul(k, s.transB ? 1 : s.n)),
                  f.mul(column, s.transB ? s.k : 1));
    else if (p.packB == Packing::Launch)
      bAt = e.panelAt(f, e.panelsB(), bBatch, k, f.div(column, width));
    else
      bAt = e.timesStep(f, f.sub(column, firstColumn), k);
    SmallVector<Value> operands{a, b, aAt, bAt, batch, row, column};
    llvm::append_range(operands, f.args(0, e.kernel.buffers.size()));
    if (e.stepsOverK())
      operands.append({totals, k});
    if (s.pairs)
      operands.push_back(isExact);
    func::FuncOp &callee = blocks[{block.rows, block.vectors, block.tail}];
    if (!callee)
      callee = emitRegisterBlock(e, block, cast<MemRefType>(a.getType()),
                                 cast<MemRefType>(b.getType()), strides);
    f.call(callee, operands);
  }

  const GemmEmission &e;
  const GemmShape &s;
  const GemmPlan &p;
  FunctionBuilder f;
  const int64_t width, fullColumns, rowTiles, columnTiles;
  std::map<std::tuple<int64_t, int64_t, int64_t>, func::FuncOp> blocks;

  Value a, b, totals, exponentA;
  Value isExact; ///< Of pairs: the instruction gives the contract's bits.
  // Of the tile at hand. Where the rows' number depends on a symbol, a block is
  // a row.
  Value batch, columnTile, firstBlock, endBlock, firstColumn;
};

/// The product with its operands exchanged, for a result of one column, or of a
/// number that depends on a symbol: its rows then are the lanes.
GemmKernel exchanged(const GemmKernel &kernel) {
  GemmKernel result = kernel;
  if (kernel.shape.n != 1)
    result.result = -1; // It does not have the result's layout then.
  GemmShape &s = result.shape;
  std::swap(result.a, result.b);
  std::swap(s.m, s.n);
  std::swap(s.sharedA, s.sharedB);
  bool transA = !s.transB;
  s.transB = !s.transA;
  s.transA = transA;
  result.store = [store = kernel.store](
                     OpBuilder &b, Location loc, ValueRange buffers,
                     Value batch, Value row, Value col, Value acc, Value mask) {
    store(b, loc, buffers, batch, col, row, acc, mask);
  };
  return result;
}

/// A product without elements still has its launch, of no tiles.
void emitEmptyLaunch(const GemmEmission &e) {
  FunctionBuilder f(e.module, e.loc, e.kernel.name, e.launchArguments(),
                    /*isPrivate=*/false);
  e.finishLaunch(f, {});
}

} // namespace

void emitComputeLaunch(const GemmEmission &e) {
  ComputeLaunchBuilder(e).build();
}

int64_t emitGemm(ModuleOp module, Location loc, const GemmKernel &kernel,
                 const GemmTarget &target, const GemmPlan &plan) {
  GemmEmission e{module, loc, kernel, target, plan};
  assert(plan.streams || plan.tileColumns % e.blockColumns() == 0);
  assert(plan.kBlock == kernel.shape.k || plan.kBlock == kernel.shape.chunk());
  assert(!plan.rowsGrow || (!plan.packA && !plan.streams));
  if (plan.packA || plan.packB == Packing::Launch)
    emitPackLaunch(e);
  if (plan.streams)
    emitStreamLaunches(e);
  else
    emitComputeLaunch(e);
  return e.workspaceBytes();
}

int64_t emitGemm(ModuleOp module, Location loc, const GemmKernel &kernel,
                 const GemmTarget &target) {
  const GemmShape &s = kernel.shape;
  if (s.batch == 0 || s.m == 0 || s.n == 0) {
    emitEmptyLaunch({module, loc, kernel, target, GemmPlan()});
    return 0;
  }
  if (storesAlongRows(s))
    return emitGemm(module, loc, exchanged(kernel), target);
  GemmPlan plan = planGemm(s, target, bool(kernel.a.load), bool(kernel.b.load),
                           kernel.heavyStore);
  if (isForPairs(kernel, target, plan))
    return emitGemm(module, loc, inPairs(kernel), target);
  return emitGemm(module, loc, kernel, target, plan);
}

StoreFn storeTo(int64_t buffer, const GemmShape &shape) {
  int64_t m = shape.m, n = shape.n;
  return [=](OpBuilder &b, Location loc, ValueRange buffers, Value batch,
             Value row, Value col, Value acc, Value mask) {
    Value memref = buffers[buffer];
    auto constant = [&](int64_t value) {
      return arith::ConstantIndexOp::create(b, loc, value);
    };
    int64_t elements = cast<MemRefType>(memref.getType()).getNumElements();
    Value flat = memref::ReinterpretCastOp::create(
        b, loc,
        MemRefType::get({elements},
                        cast<MemRefType>(memref.getType()).getElementType()),
        memref, int64_t(0), ArrayRef<int64_t>{elements}, ArrayRef<int64_t>{1});
    Value at = arith::MulIOp::create(b, loc, batch, constant(m));
    at = arith::AddIOp::create(b, loc, at, row);
    at = arith::MulIOp::create(b, loc, at, constant(n));
    at = arith::AddIOp::create(b, loc, at, col);
    if (mask)
      vector::MaskedStoreOp::create(b, loc, flat, ValueRange(at), mask, acc);
    else
      vector::StoreOp::create(b, loc, acc, flat, ValueRange(at));
  };
}

} // namespace tessera::lowering::cpu
