// The Loop emitter: every output element is a function of its index; views are
// folded into the indexing.
//
// The innermost dimension runs in vectors with a scalar tail; a light body in
// several at once, so that one's latency hides behind the others'. Where no op
// of the body looks at the index, all dimensions are one, so that short rows
// cost nothing.
#include "lowering/CPU/Emit.h"
#include "lowering/Kernels/FusedBody.h"
#include "lowering/Kernels/Launch.h"
#include "lowering/Kernels/LoopKernel.h"
#include "lowering/Kernels/Symbolic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering::cpu {

namespace {

/// Elements that one tile computes at least: enough work to pay for handing it
/// to a thread.
constexpr int64_t kTileElements = 16384;

/// Instructions of a body that is light, elements of a row that is worth
/// several vectors at once, and ops of a body that is worth four.
constexpr size_t kLightBody = 64;
constexpr int64_t kPairedElements = 256;
constexpr int64_t kLongChain = 10;

/// Whether the body in the innermost loops is more than several vectors have
/// registers for: a function that is expanded, lanes one by one, or many ops.
bool isHeavy(func::FuncOp launch) {
  bool heavy = false;
  launch.walk([&](scf::ForOp loop) {
    size_t ops = 0;
    for (Operation &op : *loop.getBody()) {
      bool isFunction = isa<math::MathDialect>(op.getDialect()) &&
                        !isa<math::AbsFOp, math::SqrtOp>(op);
      heavy |= isFunction || isa<vector::FromElementsOp>(op);
      // What converts narrow floats needs no registers of its own, nor do the
      // numbers of bits that it shifts by.
      if (isa<arith::ConstantOp>(op) &&
          !isa<FloatType>(getElementTypeOrSelf(op.getResult(0))))
        continue;
      ops += !isa<arith::BitcastOp, arith::ExtFOp, arith::TruncFOp,
                  arith::ExtUIOp, arith::ShLIOp>(op);
    }
    heavy |= ops > kLightBody;
  });
  return heavy;
}

class LoopEmitter {
public:
  LoopEmitter(KernelOp kernel, StringRef name, const TargetInfo &target,
              ModuleOp module, bool several)
      : kernel(kernel), target(target), several(several),
        space(cast<RankedTensorType>(kernel.getOutputs()[0].getType())) {
    shape.assign(space.getShape().begin(), space.getShape().end());
    flat = isFlat(kernel);
    if (flat || shape.empty())
      shape = {space.getNumElements()};
    inner = shape.back();
    rows = inner == 0 ? 0 : space.getNumElements() / inner;
    lanes = widestLanes();
    pieces = piecesOfRow();
    // A tile is some rows, or where there is one row a piece of it.
    rowsPerTile = rows > 1 ? std::max<int64_t>(1, kTileElements / inner) : 1;
    launch.emplace(module, kernel, name,
                   space.getNumElements() == 0 ? runtime::SizeFormula()
                   : rows > 1                  ? ceilOf(rows, rowsPerTile)
                                               : ceilOf(inner, kTileElements));
    body.emplace(kernel, launch->inputs());
  }

  void emit() {
    if (space.getNumElements() > 0) {
      Value tile = launch->forEachTile();
      if (rows > 1)
        emitRows(tile);
      else
        emitPiece(tile);
    }
    launch->finish();
  }

private:
  OpBuilder &b() { return launch->body(); }

  /// Full registers of the widest element, so that no value spills over several
  /// registers needlessly.
  int64_t widestLanes() {
    int64_t least = target.vectorBits / 8;
    auto consider = [&](Value v) {
      least = std::min<int64_t>(
          least, target.lanes(storageType(tensorType(v).getElementType())));
    };
    for (Operation &op : kernel.getBody().front().without_terminator())
      for (Value result : op.getResults())
        consider(result);
    for (Value input : kernel.getInputs())
      consider(input);
    return inner >= least ? least : 1;
  }

  /// A part of a row and how many of its elements are computed at once. Where
  /// the row's length depends on a symbol, `from` and `to` are null: the part
  /// reaches from the multiples of `wider` in it to those of `lanes`.
  struct Piece {
    int64_t from, to, lanes, wider = 0;
  };
  Value fromOf(const Piece &piece) {
    if (!piece.wider)
      return launch->number(piece.from);
    return piece.from == 0 ? launch->number(0) : multiples(piece.wider);
  }
  Value toOf(const Piece &piece) {
    return piece.wider ? multiples(piece.lanes) : launch->number(piece.to);
  }
  /// The length of a row rounded down to a multiple of `width`.
  Value multiples(int64_t width) {
    Value length = launch->number(inner);
    if (isMultipleOf(inner, width))
      return length;
    Value rest = LaneMath(b(), launch->loc()).remainder(length, width);
    return arith::SubIOp::create(b(), launch->loc(), length, rest);
  }

  SmallVector<Piece> piecesOfRow() {
    SmallVector<int64_t> widths{lanes, 1};
    if (several && lanes > 1 && inner >= kPairedElements)
      widths.insert(widths.begin(), vectorsTogether() * lanes);
    SmallVector<Piece> pieces;
    if (isSymbolic(inner)) {
      int64_t wider = 0;
      for (int64_t width : widths) {
        pieces.push_back({wider, 0, width, wider ? wider : width});
        if (isMultipleOf(inner, width))
          break;
        wider = width;
      }
      return pieces;
    }
    int64_t from = 0;
    for (int64_t width : widths)
      if (int64_t to = from + (inner - from) / width * width; to > from) {
        pieces.push_back({from, to, width});
        from = to;
      }
    return pieces;
  }

  /// A chain of many ops waits for its results, a short one for memory, where
  /// long pieces of each input in turn are no help.
  int64_t vectorsTogether() {
    return llvm::range_size(
               kernel.getBody().front().getOps<ScalarOpInterface>()) >=
                   kLongChain
               ? 4
               : 2;
  }

  void emitRows(Value tile) {
    Location loc = launch->loc();
    LaneMath lane(b(), loc);
    Value first = lane.mulConstant({tile, 0, 1}, rowsPerTile).base;
    Value last = lane.addConstant({first, 0, 1}, rowsPerTile).base;
    last = arith::MinSIOp::create(b(), loc, last, launch->number(rows));
    Value row = launch->openLoop(first, last, 1);
    LaneMath inside(b(), loc);
    auto outer =
        *inside.delinearize({row, 0, 1}, ArrayRef(shape).drop_back(), 1);
    Value start = inside.mulConstant({row, 0, 1}, inner).base;
    for (const Piece &piece : pieces)
      emitSpan(outer, start, fromOf(piece), toOf(piece), piece.lanes);
  }

  void emitPiece(Value tile) {
    Location loc = launch->loc();
    LaneMath lane(b(), loc);
    SmallVector<LaneIndex> outer(shape.size() - 1, lane.constant(0));
    Value zero = launch->number(0);
    Value first = lane.mulConstant({tile, 0, 1}, kTileElements).base;
    Value last = lane.addConstant({first, 0, 1}, kTileElements).base;
    for (const Piece &piece : pieces) {
      Value from = arith::MaxSIOp::create(b(), loc, first, fromOf(piece));
      Value to = arith::MinSIOp::create(b(), loc, last, toOf(piece));
      emitSpan(outer, zero, from, to, piece.lanes);
    }
  }

  /// The elements [from, to) of the row that starts at the flat position
  /// `start`, `width` at a time.
  void emitSpan(ArrayRef<LaneIndex> outer, Value start, Value from, Value to,
                int64_t width) {
    Value j = launch->openLoop(from, to, width);
    LaneMath lane(b(), launch->loc());
    FusedBody::Frame frame(*body, b());
    LaneIndex column{j, 1, width};
    SmallVector<LaneIndex> index = indexOf(outer, column);
    Value position = lane.add({start, 0, 1}, {j, 0, 1}).base;
    auto yield = cast<YieldOp>(kernel.getBody().front().getTerminator());
    SmallVector<Value> values;
    for (Value value : yield.getValues())
      values.push_back(frame.at(value, index, width));
    // All values are loaded before the first is stored: an output may lie in
    // the place of an input.
    for (auto [i, value] : llvm::enumerate(values))
      storeLanes(b(), launch->loc(), value, launch->outputs()[i], position,
                 width > 1 && isStreaming(width) &&
                     kernel.overwrittenInput(i) < 0);
    launch->close();
  }

  /// The index in the ops' shape.
  SmallVector<LaneIndex> indexOf(ArrayRef<LaneIndex> outer, LaneIndex column) {
    if (!flat) {
      SmallVector<LaneIndex> index(outer);
      if (space.getRank() > 0)
        index.push_back(column);
      return index;
    }
    LaneMath lane(b(), launch->loc());
    return flatIndex(lane, space.getShape(), column);
  }

  /// Whether results pass the caches by: their places must be aligned.
  bool isStreaming(int64_t width) {
    return isStreamed(kernel, target) && (flat || inner % width == 0);
  }

  KernelOp kernel;
  const TargetInfo &target;
  bool several;
  RankedTensorType space;
  SmallVector<int64_t> shape;
  bool flat;
  int64_t inner, rows, lanes, rowsPerTile;
  SmallVector<Piece> pieces;
  std::optional<Launch> launch;
  std::optional<FusedBody> body;
};

} // namespace

LogicalResult emitLoop(KernelOp kernel, StringRef name,
                       const TargetInfo &target, ModuleOp module) {
  if (failed(verifyLoop(kernel)))
    return failure();
  LoopEmitter(kernel, name, target, module, /*several=*/true).emit();
  auto launch = module.lookupSymbol<func::FuncOp>(name);
  if (isHeavy(launch)) {
    launch.erase();
    LoopEmitter(kernel, name, target, module, /*several=*/false).emit();
  }
  return success();
}

} // namespace tessera::lowering::cpu
