// Reads or computes the tiles of an operand.
#include "lowering/GPU/GemmSource.h"
#include "dialects/Tessera/IR/NarrowFloats.h"
#include "lowering/CodeGen/Formula.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering::simt {

GemmSource::GemmSource(GemmBlock &block, unsigned number, GemmInput input,
                       int64_t extent, int64_t depth, int64_t mostBytes,
                       double filler)
    : block(block), number(number), input(input), extent(extent), depth(depth),
      lines(number == 0 ? block.shape().m : block.shape().n),
      k(block.shape().k),
      kInnermost(number == 0 ? !block.shape().transA : block.shape().transB),
      type(registerType(tensorType(input.value).getElementType())),
      lanes(lanesOfAccess(mostBytes)), filler(filler) {
  Value thread = block.launch.thread();
  inner = math().mul(math().rem(thread, besides()), lanes);
  outer = math().div(thread, besides());
  firstLine = number == 0 ? block.firstRow : block.firstColumn;
  if (isComputed())
    return;
  assert(depth * extent % (lanes * block.threads) == 0 &&
         "every thread has as many accesses");
  for (int64_t i = 0; i < (kInnermost ? accesses() : 1); ++i)
    linesInMemory.push_back(lineInMemory(i));
}

int64_t GemmSource::lanesOfAccess(int64_t mostBytes) const {
  int64_t most = mostBytes / (type.getIntOrFloatBitWidth() / 8);
  const ProductDims &dims = number == 0 ? block.source.a : block.source.b;
  size_t rows = *dims.contractFirst ? dims.contract.size() : dims.free.size();
  auto columns = tensorType(block.source.operand(number))
                     .getShape()
                     .drop_front(dims.batch.size() + rows);
  auto fits = [&](int64_t lanes) {
    return isComputed() ? holdsVectors(columns, lanes)
                        : isMultipleOf(kInnermost ? k : lines, lanes);
  };
  while (most > 1 && !fits(most))
    most /= 2;
  return most;
}

GemmSource::Access GemmSource::access(int64_t i) {
  return accessOf(inner, math().add(outer, i * (block.threads / besides())));
}

Value GemmSource::lineInMemory(int64_t i) {
  Value line = math().add(firstLine, access(i).line);
  if (!isMultipleOf(lines, extent))
    line = math().min(line, lines - (kInnermost ? 1 : lanes));
  if (kInnermost)
    line = math().mul(line, k);
  return math().add(math().mul(block.batch, lines * k), line);
}

GemmSource::Place GemmSource::place(Value from, int64_t i) {
  Value step = math().add(from, access(i).step), exists;
  if (!isMultipleOf(k, depth)) {
    exists = math().less(step, k);
    step = math().min(step, k - (kInnermost ? lanes : 1));
  }
  if (kInnermost)
    return {math().add(linesInMemory[i], step), exists};
  return {math().add(linesInMemory[0], math().mul(step, lines)), exists};
}

Value GemmSource::load(Value from, int64_t i) {
  Place at = place(from, i);
  Value elements =
      loadLanes(b(), loc(), block.launch.inputs()[input.buffer],
                {at.position, 1, lanes}, lanes, type, {}, /*isAligned=*/true);
  if (!at.exists)
    return elements;
  return arith::SelectOp::create(b(), loc(), at.exists, elements, fillers());
}

Value GemmSource::fillers() {
  Type all = lanes > 1 ? Type(VectorType::get({lanes}, type)) : type;
  return splat(b(), loc(), all, filler);
}

void GemmSource::compute(Value from,
                         llvm::function_ref<void(Access, Value)> use) {
  block.loop(block.launch.thread(), math().number(depth * extent / lanes),
             block.threads, {}, [&](Value number, ValueRange) -> Values {
               Value inner = math().mul(math().rem(number, besides()), lanes);
               Value outer = math().div(number, besides());
               use(accessOf(inner, outer), computeAccess(from, inner, outer));
               return {};
             });
}

Value GemmSource::computeAccess(Value from, Value inner, Value outer) {
  Value row = math().add(kInnermost ? firstLine : from, outer);
  Value column = math().add(kInnermost ? from : firstLine, inner);
  Value line = kInnermost ? row : column, step = kInnermost ? column : row;
  auto build = [&]() -> Values {
    LaneMath lane(b(), loc());
    auto index = *block.source.operandIndex(
        lane, number, {block.batch, 0, 1}, {row, 0, 1},
        {column, lanes > 1 ? 1 : 0, lanes}, lanes);
    FusedBody body(block.source.kernel, block.launch.inputs());
    body.alignBuffers();
    return {FusedBody::Frame(body, b()).at(input.value, index, lanes)};
  };
  Value exists;
  if (!isMultipleOf(lines, extent))
    exists = math().less(line, lines);
  if (!isMultipleOf(k, depth))
    exists = math().both(exists, math().less(step, k));
  if (!exists)
    return build()[0];
  return block.choose(exists, build,
                      [&]() -> Values { return {fillers()}; })[0];
}

} // namespace tessera::lowering::simt
