// What all Gemm kernels of GPUs have in common: the grid, the block's place in
// it, and the epilogue.
#include "lowering/CodeGen/Formula.h"
#include "lowering/GPU/Gemm.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering::simt {

//===- IndexMath ---------------------------------------------------------===//

static bool is(Value x, int64_t value) {
  return getConstantIntValue(x) == value;
}

Value IndexMath::number(int64_t value) const {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value IndexMath::add(Value x, Value y) const {
  if (is(x, 0))
    return y;
  return is(y, 0) ? x : Value(arith::AddIOp::create(b, loc, x, y));
}

Value IndexMath::add(Value x, int64_t y) const {
  return y == 0 ? x : add(x, number(y));
}

Value IndexMath::mul(Value x, int64_t y) const {
  if (y == 1 || is(x, 0))
    return x;
  return arith::MulIOp::create(b, loc, x, number(y));
}

Value IndexMath::div(Value x, int64_t y) const {
  return y == 1 ? x : Value(arith::DivUIOp::create(b, loc, x, number(y)));
}

Value IndexMath::rem(Value x, int64_t y) const {
  return y == 1 ? number(0)
                : Value(arith::RemUIOp::create(b, loc, x, number(y)));
}

Value IndexMath::min(Value x, int64_t y) const {
  return arith::MinSIOp::create(b, loc, x, number(y));
}

Value IndexMath::bitAnd(Value x, int64_t y) const {
  return arith::AndIOp::create(b, loc, x, number(y));
}

Value IndexMath::bitXor(Value x, Value y) const {
  return is(y, 0) ? x : Value(arith::XOrIOp::create(b, loc, x, y));
}

Value IndexMath::less(Value x, int64_t y) const {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, number(y));
}

Value IndexMath::both(Value x, Value y) const {
  if (!x || !y)
    return x ? x : y;
  return arith::AndIOp::create(b, loc, x, y);
}

Type computeType(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  return integer && integer.getWidth() < 32
             ? IntegerType::get(element.getContext(), 32)
             : element;
}

bool holdsVectors(ArrayRef<int64_t> sizes, int64_t lanes) {
  for (int64_t size : llvm::reverse(sizes))
    if (size != 1)
      return isMultipleOf(size, lanes);
  return lanes == 1;
}

//===- GemmBlock ---------------------------------------------------------===//

/// The blocks of the grid: only one of the sizes may depend on a symbol.
static runtime::SizeFormula blocksOf(const GemmShape &s, int64_t rows,
                                     int64_t columns) {
  auto tiles = [](int64_t size, int64_t tile) {
    return int64_t(llvm::divideCeil(size, tile));
  };
  if (isSymbolic(s.m))
    return ceilOf(s.m, rows, s.batch * tiles(s.n, columns));
  if (isSymbolic(s.n))
    return ceilOf(s.n, columns, s.batch * tiles(s.m, rows));
  return ceilOf(s.batch, 1, tiles(s.m, rows) * tiles(s.n, columns));
}

GemmBlock::GemmBlock(const ProductKernel &source, StringRef name,
                     ModuleOp module, int64_t rows, int64_t columns,
                     int64_t threads, int64_t sharedBytes)
    : source(source), rows(rows), columns(columns), threads(threads),
      launch(module, source.kernel, name, blocksOf(source.shape, rows, columns),
             threads),
      body(source.kernel, launch.inputs()) {
  body.alignBuffers();
  sharedMemory = launch.dynamicShared(sharedBytes);
  locate();
}

void GemmBlock::locate() {
  auto tiles = [&](int64_t size, int64_t tile) -> Value {
    if (!isSymbolic(size))
      return math().number(llvm::divideCeil(size, tile));
    return math().div(math().number(size + tile - 1), tile);
  };
  auto split = [&](Value x, Value by) -> std::pair<Value, Value> {
    if (is(by, 1))
      return {x, math().number(0)};
    return {arith::DivUIOp::create(b(), loc(), x, by),
            arith::RemUIOp::create(b(), loc(), x, by)};
  };
  auto [rest, columnTile] = split(launch.block(), tiles(shape().n, columns));
  firstColumn = math().mul(columnTile, columns);
  if (shape().batch == 1) {
    batch = math().number(0);
    firstRow = math().mul(rest, rows);
    return;
  }
  auto [outer, rowTile] = split(rest, tiles(shape().m, rows));
  batch = outer;
  firstRow = math().mul(rowTile, rows);
}

Value GemmBlock::shared(Type element, int64_t count, int64_t fromByte) {
  auto space = cast<MemRefType>(sharedMemory.getType()).getMemorySpace();
  auto type = MemRefType::get({count}, element, AffineMap(), space);
  return memref::ViewOp::create(b(), loc(), type, sharedMemory,
                                math().number(fromByte), ValueRange());
}

Values GemmBlock::loop(Value low, Value high, int64_t step, Values init,
                       llvm::function_ref<Values(Value, ValueRange)> body) {
  auto loop =
      scf::ForOp::create(b(), loc(), low, high, math().number(step), init);
  OpBuilder::InsertionGuard guard(b());
  b().setInsertionPointToStart(loop.getBody());
  Values next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!init.empty())
    scf::YieldOp::create(b(), loc(), next);
  return loop.getResults();
}

Values GemmBlock::choose(Value condition, llvm::function_ref<Values()> then,
                         llvm::function_ref<Values()> otherwise) {
  OpBuilder::InsertionGuard guard(b());
  auto branch = [&](llvm::function_ref<Values()> build) {
    return [this, build](OpBuilder &inner, Location) {
      b().setInsertionPoint(inner.getInsertionBlock(),
                            inner.getInsertionPoint());
      scf::YieldOp::create(b(), loc(), build());
    };
  };
  OpBuilder outer(b());
  return scf::IfOp::create(outer, loc(), condition, branch(then),
                           branch(otherwise))
      .getResults();
}

//===- The epilogue ------------------------------------------------------===//

/// Neighbours in a row that a thread stores at once: as many as fill 128 bits
/// of the widest of the elements.
int64_t GemmBlock::lanesOfResult() const {
  Type element = computeType(shape().element);
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  KernelOp kernel = source.kernel;
  for (Value output : kernel.getOutputs())
    bytes = std::max<int64_t>(bytes,
                              storageType(tensorType(output).getElementType())
                                      .getIntOrFloatBitWidth() /
                                  8);
  size_t outer = source.a.batch.size() + source.a.free.size();
  auto sizes = tensorType(source.result()).getShape().drop_front(outer);
  int64_t lanes = 16 / bytes;
  while (lanes > 1 && !holdsVectors(sizes, lanes))
    lanes /= 2;
  return lanes;
}

void GemmBlock::finish(int64_t slabs, int64_t stride,
                       llvm::function_ref<void(Value, Value)> write) {
  int64_t slabRows = rows / slabs;
  Value sums = shared(computeType(shape().element), slabRows * stride);
  auto slab = [&](Value number) {
    launch.barrier();
    write(number, sums);
    launch.barrier();
    Value first = math().add(firstRow, math().mul(number, slabRows));
    storeSlab(sums, slabRows, first, stride);
  };
  if (slabs == 1) {
    slab(math().number(0));
  } else {
    loop(math().number(0), math().number(slabs), 1, {},
         [&](Value number, ValueRange) -> Values {
           slab(number);
           return {};
         });
  }
  launch.finish();
}

void GemmBlock::storeSlab(Value sums, int64_t slabRows, Value firstSlabRow,
                          int64_t stride) {
  const GemmShape &s = shape();
  int64_t lanes = lanesOfResult(), perRow = columns / lanes;
  LaneMath lane(b(), loc());
  Value access = launch.openLoop(launch.thread(),
                                 launch.number(slabRows * perRow), threads);
  Value slabRow = math().div(access, perRow);
  Value slabColumn = math().mul(math().rem(access, perRow), lanes);
  Value row = math().add(firstSlabRow, slabRow);
  Value column = math().add(firstColumn, slabColumn);
  Value exists;
  if (!isMultipleOf(s.m, rows))
    exists = math().less(row, s.m);
  if (!isMultipleOf(s.n, columns))
    exists = math().both(exists, math().less(column, s.n));
  if (exists)
    launch.openIf(exists);
  Value at = math().add(math().mul(slabRow, stride), slabColumn);
  Type element = computeType(s.element);
  Value sum = loadLanes(b(), loc(), sums, {at, 1, lanes}, lanes, element, {},
                        stride % lanes == 0);
  if (element != s.element) {
    Type narrow =
        lanes > 1 ? Type(VectorType::get({lanes}, s.element)) : Type(s.element);
    sum = arith::TruncIOp::create(b(), loc(), narrow, sum);
  }
  LaneIndex i{row, 0, 1}, j{column, lanes > 1 ? 1 : 0, lanes};
  LaneIndex position = lane.add(lane.mulConstant({batch, 0, 1}, s.m * s.n),
                                lane.add(lane.mulConstant(i, s.n), j));
  auto index = *source.resultIndex(lane, {batch, 0, 1}, i, j, lanes);
  body.supply(source.result(), [=](auto &&...) { return sum; });
  FusedBody::Frame frame(body, b());
  Values values;
  for (Value value : source.yielded())
    values.push_back(frame.at(value, index, lanes));
  // All values are computed before the first is stored: an output may lie in
  // the place of an input.
  for (auto [value, output] : llvm::zip(values, launch.outputs()))
    storeLanes(b(), loc(), value, output, position.base, /*nonTemporal=*/false,
               /*mask=*/{}, /*isAligned=*/true);
  if (exists)
    launch.close();
  launch.close();
}

} // namespace tessera::lowering::simt
