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

/// Bytes of the widest access.
static constexpr int64_t kAccessBytes = 16;

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
                                     int64_t columns, int64_t chunks) {
  auto tiles = [](int64_t size, int64_t tile) {
    return int64_t(llvm::divideCeil(size, tile));
  };
  if (isSymbolic(s.m))
    return ceilOf(s.m, rows, chunks * s.batch * tiles(s.n, columns));
  if (isSymbolic(s.n))
    return ceilOf(s.n, columns, chunks * s.batch * tiles(s.m, rows));
  return ceilOf(s.batch, 1, chunks * tiles(s.m, rows) * tiles(s.n, columns));
}

/// What the sums of all parts of k take, if there are several.
static runtime::SizeFormula workspaceOf(const GemmShape &s, int64_t chunks) {
  int64_t bytes = computeType(s.element).getIntOrFloatBitWidth() / 8;
  return chunks == 1 ? runtime::SizeFormula()
                     : formulaOf(chunks * bytes * s.batch * s.m * s.n);
}

GemmBlock::GemmBlock(const ProductKernel &source, StringRef name,
                     ModuleOp module, int64_t rows, int64_t columns,
                     int64_t threads, int64_t sharedBytes, int64_t chunks)
    : source(source), rows(rows), columns(columns), threads(threads),
      chunks(chunks), launch(module, source.kernel, name,
                             blocksOf(source.shape, rows, columns, chunks),
                             threads, workspaceOf(source.shape, chunks)) {
  sharedMemory = launch.dynamicShared(sharedBytes);
  locate();
}

/// Rows of tiles that blocks go down before the next column of tiles: blocks
/// that run side by side then read fewer different lines.
static int64_t bandOf(int64_t m, int64_t rows) {
  if (isSymbolic(m))
    return 1;
  int64_t band = 8;
  while (int64_t(llvm::divideCeil(m, rows)) % band != 0)
    band /= 2;
  return band;
}

void GemmBlock::locate() {
  auto tiles = [&](int64_t size, int64_t tile) -> Value {
    if (!isSymbolic(size))
      return math().number(llvm::divideCeil(size, tile));
    return math().div(math().number(size + tile - 1), tile);
  };
  // A grid has less than 2^31 blocks, and 64-bit division is a function.
  auto narrow = [&](Value x) -> Value {
    return arith::IndexCastOp::create(b(), loc(), b().getI32Type(), x);
  };
  auto wide = [&](Value x) -> Value {
    return arith::IndexCastUIOp::create(b(), loc(), b().getIndexType(), x);
  };
  auto split = [&](Value x, Value by) -> std::pair<Value, Value> {
    if (is(by, 1))
      return {x, math().number(0)};
    Value number = narrow(x), divisor = narrow(by);
    return {wide(arith::DivUIOp::create(b(), loc(), number, divisor)),
            wide(arith::RemUIOp::create(b(), loc(), number, divisor))};
  };
  int64_t band = bandOf(shape().m, rows);
  auto [above, rowInBand] = split(launch.block(), math().number(band));
  auto [rest, columnTile] = split(above, tiles(shape().n, columns));
  chunk = batch = math().number(0);
  Value bandNumber = rest;
  if (shape().batch != 1 || chunks > 1)
    std::tie(batch, bandNumber) = split(rest, tiles(shape().m, rows * band));
  if (chunks > 1)
    std::tie(chunk, batch) = split(batch, math().number(shape().batch));
  Value rowTile = math().add(math().mul(bandNumber, band), rowInBand);
  firstRow = math().mul(rowTile, rows);
  firstColumn = math().mul(columnTile, columns);
}

Value GemmBlock::shared(Type element, int64_t count, int64_t fromByte) {
  auto space = cast<MemRefType>(sharedMemory.getType()).getMemorySpace();
  auto type = MemRefType::get({count}, element, AffineMap(), space);
  return memref::ViewOp::create(b(), loc(), type, sharedMemory,
                                math().number(fromByte), ValueRange());
}

Values carry(OpBuilder &b, Location loc, Value low, Value high, int64_t step,
             Values init, llvm::function_ref<Values(Value, ValueRange)> body) {
  Value by = arith::ConstantIndexOp::create(b, loc, step);
  auto loop = scf::ForOp::create(b, loc, low, high, by, init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Values next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!init.empty())
    scf::YieldOp::create(b, loc, next);
  return loop.getResults();
}

Value splat(OpBuilder &b, Location loc, Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr constant = b.getZeroAttr(element);
  if (isa<FloatType>(element))
    constant = b.getFloatAttr(element, value);
  if (auto vector = dyn_cast<VectorType>(type))
    constant = DenseElementsAttr::get(vector, Attribute(constant));
  return arith::ConstantOp::create(b, loc, constant);
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

int64_t lanesOfResult(const ProductKernel &source) {
  int64_t bytes = computeType(source.shape.element).getIntOrFloatBitWidth() / 8;
  KernelOp kernel = source.kernel;
  for (Value output : kernel.getOutputs()) {
    Type stored = storageType(tensorType(output).getElementType());
    bytes = std::max<int64_t>(bytes, stored.getIntOrFloatBitWidth() / 8);
  }
  size_t outer = source.a.batch.size() + source.a.free.size();
  auto sizes = tensorType(source.result()).getShape().drop_front(outer);
  int64_t lanes = kAccessBytes / bytes;
  while (lanes > 1 && !holdsVectors(sizes, lanes))
    lanes /= 2;
  return lanes;
}

void storeResults(BlockLaunch &launch, const ProductKernel &source, Value batch,
                  Value row, Value column, Value sum) {
  const GemmShape &s = source.shape;
  OpBuilder &b = launch.body();
  Location loc = launch.loc();
  int64_t lanes = lanesOfResult(source);
  Type type = sum.getType();
  if (computeType(s.element) != s.element) {
    auto vector = dyn_cast<VectorType>(type);
    type = vector ? Type(vector.clone(s.element)) : s.element;
    sum = arith::TruncIOp::create(b, loc, type, sum);
  }
  LaneMath lane(b, loc);
  LaneIndex i{row, 0, 1}, j{column, lanes > 1 ? 1 : 0, lanes};
  LaneIndex position = lane.add(lane.mulConstant({batch, 0, 1}, s.m * s.n),
                                lane.add(lane.mulConstant(i, s.n), j));
  auto index = *source.resultIndex(lane, {batch, 0, 1}, i, j, lanes);
  FusedBody body(source.kernel, launch.inputs());
  body.alignBuffers();
  body.supply(source.result(), [=](auto &&...) { return sum; });
  FusedBody::Frame frame(body, b);
  Values values;
  for (Value value : source.yielded())
    values.push_back(frame.at(value, index, lanes));
  // All values are computed before the first is stored: an output may lie in
  // the place of an input.
  for (auto [value, output] : llvm::zip(values, launch.outputs()))
    storeLanes(b, loc, value, output, position.base, /*nonTemporal=*/false,
               /*mask=*/{}, /*isAligned=*/true);
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

Value addSums(OpBuilder &b, Location loc, Value x, Value y) {
  if (isa<FloatType>(getElementTypeOrSelf(x.getType())))
    return arith::AddFOp::create(b, loc, x, y);
  return arith::AddIOp::create(b, loc, x, y);
}

/// The workspace as the sums of all parts of k.
static Value chunkSums(BlockLaunch &launch, const GemmShape &s,
                       int64_t chunks) {
  auto type =
      MemRefType::get({chunks * s.batch * s.m * s.n}, computeType(s.element));
  return memref::ViewOp::create(launch.body(), launch.loc(), type,
                                launch.workspace(), launch.number(0),
                                ValueRange());
}

void GemmBlock::storeSlab(Value sums, int64_t slabRows, Value firstSlabRow,
                          int64_t stride) {
  const GemmShape &s = shape();
  int64_t lanes = lanesOfResult(source), perRow = columns / lanes;
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
  Value sum = loadLanes(b(), loc(), sums, {at, 1, lanes}, lanes,
                        computeType(s.element), {}, /*isAligned=*/true);
  if (chunks == 1) {
    storeResults(launch, source, batch, row, column, sum);
  } else {
    Value place = math().add(math().mul(chunk, s.batch), batch);
    place = math().add(math().mul(place, s.m * s.n),
                       math().add(math().mul(row, s.n), column));
    storeLanes(b(), loc(), sum, chunkSums(launch, s, chunks), place,
               /*nonTemporal=*/false, /*mask=*/{}, /*isAligned=*/true);
  }
  if (exists)
    launch.close();
  launch.close();
}

void emitChunkSums(const ProductKernel &source, StringRef name, ModuleOp module,
                   int64_t chunks) {
  constexpr int64_t kThreads = 128;
  const GemmShape &s = source.shape;
  int64_t lanes = lanesOfResult(source), elements = s.batch * s.m * s.n;
  Type element = computeType(s.element);
  BlockLaunch launch(module, source.kernel, name,
                     ceilOf(elements, kThreads * lanes), kThreads,
                     workspaceOf(s, chunks));
  OpBuilder &b = launch.body();
  Location loc = launch.loc();
  IndexMath math(b, loc);
  Value thread = math.add(math.mul(launch.block(), kThreads), launch.thread());
  Value at = math.mul(thread, lanes);
  if (!isMultipleOf(elements, kThreads * lanes))
    launch.openIf(math.less(at, elements));
  Value all = chunkSums(launch, s, chunks);
  Type type = lanes > 1 ? Type(VectorType::get({lanes}, element)) : element;
  // -0 changes no sum.
  Value total =
      carry(b, loc, launch.number(0), launch.number(chunks), 1,
            {splat(b, loc, type, -0.0)}, [&](Value chunk, ValueRange totals) {
              Value place = math.add(math.mul(chunk, elements), at);
              Value sum = loadLanes(b, loc, all, {place, 1, lanes}, lanes,
                                    element, {}, /*isAligned=*/true);
              return Values{addSums(b, loc, totals[0], sum)};
            })[0];
  Value row = math.div(at, s.n), column = math.rem(at, s.n);
  storeResults(launch, source, math.div(row, s.m), math.rem(row, s.m), column,
               total);
  launch.finish();
}

} // namespace tessera::lowering::simt
