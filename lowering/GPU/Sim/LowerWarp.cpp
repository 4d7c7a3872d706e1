// Special registers, barriers, and what the lanes of a warp do together.
#include "lowering/GPU/Sim/SimBuilder.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "runtime/sim/SimAbi.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tessera::lowering {

namespace {

/// Where the registers are, by the ends of their ops' names.
struct Register {
  StringRef name;
  size_t offset;
};
constexpr StringLiteral kRegisterPrefix = "nvvm.read.ptx.sreg.";
constexpr Register kRegisters[] = {
    {"tid.x", offsetof(tessera_sim_lane, tid)},
    {"tid.y", offsetof(tessera_sim_lane, tid) + 4},
    {"tid.z", offsetof(tessera_sim_lane, tid) + 8},
    {"ntid.x", offsetof(tessera_sim_lane, ntid)},
    {"ntid.y", offsetof(tessera_sim_lane, ntid) + 4},
    {"ntid.z", offsetof(tessera_sim_lane, ntid) + 8},
    {"ctaid.x", offsetof(tessera_sim_lane, ctaid)},
    {"ctaid.y", offsetof(tessera_sim_lane, ctaid) + 4},
    {"ctaid.z", offsetof(tessera_sim_lane, ctaid) + 8},
    {"nctaid.x", offsetof(tessera_sim_lane, nctaid)},
    {"nctaid.y", offsetof(tessera_sim_lane, nctaid) + 4},
    {"nctaid.z", offsetof(tessera_sim_lane, nctaid) + 8},
    {"laneid", offsetof(tessera_sim_lane, laneid)},
    {"warpid", offsetof(tessera_sim_lane, warpid)},
    {"nwarpid", offsetof(tessera_sim_lane, nwarpid)},
};

Value ones(SimBuilder &b, Location loc) { return b.constant(loc, -1); }

/// The masks of the lanes below, above and at this one.
Value laneMask(SimBuilder &b, Location loc, StringRef kind) {
  Value lane = b.laneField(loc, offsetof(tessera_sim_lane, laneid), b.i32);
  auto shift = [&](Value value) {
    return LLVM::ShlOp::create(b, loc, value, lane).getResult();
  };
  Value atAndAbove = shift(ones(b, loc)), at = shift(b.constant(loc, 1));
  auto invert = [&](Value value) {
    return LLVM::XOrOp::create(b, loc, value, ones(b, loc)).getResult();
  };
  if (kind == "eq")
    return at;
  if (kind == "ge")
    return atAndAbove;
  if (kind == "lt")
    return invert(atAndAbove);
  if (kind == "le")
    return LLVM::OrOp::create(b, loc, invert(atAndAbove), at);
  return LLVM::XOrOp::create(b, loc, atAndAbove, at);
}

Value readRegister(SimBuilder &b, Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (!name.consume_front(kRegisterPrefix))
    return {};
  Location loc = op->getLoc();
  for (const Register &known : kRegisters)
    if (known.name == name)
      return b.laneField(loc, known.offset, b.i32);
  if (name == "warpsize")
    return b.constant(loc, 32);
  if (name.consume_front("lanemask."))
    return laneMask(b, loc, name);
  return {};
}

Value barrier(SimBuilder &b, NVVM::BarrierOp op) {
  Location loc = op.getLoc();
  Value id = op.getBarrierId(), threads = op.getNumberOfThreads();
  SmallVector<Value> args = {id ? id : b.constant(loc, 0),
                             threads ? threads : b.constant(loc, 0)};
  if (!op.getReductionOp())
    return b.callAt(op, "barrier", {}, args);
  args.push_back(b.constant(loc, int64_t(*op.getReductionOp())));
  args.push_back(op.getReductionPredicate());
  return b.callAt(op, "barrier_reduce", b.i32, args);
}

void barrierArrive(SimBuilder &b, NVVM::BarrierArriveOp op) {
  Value id = op.getBarrierId();
  b.callAt(op, "barrier_arrive", {},
           {id ? id : b.constant(op.getLoc(), 0), op.getNumberOfThreads()});
}

/// The low 32 bits of a call's result as `type`.
Value lowAs(SimBuilder &b, Location loc, Value value, Type type) {
  Value low = LLVM::TruncOp::create(b, loc, b.i32, value);
  return type == b.i32 ? low : LLVM::BitcastOp::create(b, loc, type, low);
}

/// The result of an op that gives {number, i1}, of a call's 33 bits.
Value withPredicate(SimBuilder &b, Location loc, Value value, Type type) {
  auto pair = cast<LLVM::LLVMStructType>(type);
  Value high = LLVM::LShrOp::create(b, loc, value, b.constant(loc, 32, 64));
  Value low = lowAs(b, loc, value, pair.getBody()[0]);
  Value predicate = LLVM::TruncOp::create(b, loc, b.i1, high);
  Value result = LLVM::PoisonOp::create(b, loc, pair);
  result =
      LLVM::InsertValueOp::create(b, loc, result, low, ArrayRef<int64_t>{0});
  return LLVM::InsertValueOp::create(b, loc, result, predicate,
                                     ArrayRef<int64_t>{1});
}

Value pairOrLow(SimBuilder &b, Location loc, Value value, Type type) {
  return isa<LLVM::LLVMStructType>(type) ? withPredicate(b, loc, value, type)
                                         : lowAs(b, loc, value, type);
}

Value shuffle(SimBuilder &b, NVVM::ShflOp op) {
  Location loc = op.getLoc();
  Value value = b.callAt(op, "shuffle", b.i64,
                         {b.constant(loc, int64_t(op.getKind())),
                          op.getThreadMask(), b.asI32(loc, op.getVal()),
                          op.getOffset(), op.getMaskAndClamp()});
  return pairOrLow(b, loc, value, op.getType());
}

Value asPredicate(SimBuilder &b, Location loc, Value value, Type type) {
  return type == b.i32 ? value : LLVM::TruncOp::create(b, loc, type, value);
}

Value vote(SimBuilder &b, NVVM::VoteSyncOp op) {
  Location loc = op.getLoc();
  Value value = b.callAt(op, "vote", b.i32,
                         {b.constant(loc, int64_t(op.getKind())), op.getMask(),
                          b.asI32(loc, op.getPred())});
  return asPredicate(b, loc, value, op.getType());
}

Value redux(SimBuilder &b, NVVM::ReduxOp op) {
  Location loc = op.getLoc();
  Value value = op.getVal();
  if (op.getAbs())
    value = LLVM::FAbsOp::create(b, loc, value);
  value =
      b.callAt(op, "redux", b.i32,
               {b.constant(loc, int64_t(op.getKind())), op.getMaskAndClamp(),
                b.asI32(loc, value), b.constant(loc, op.getNan())});
  return op.getType() == b.i32
             ? value
             : LLVM::BitcastOp::create(b, loc, op.getType(), value);
}

Value match(SimBuilder &b, NVVM::MatchSyncOp op) {
  Location loc = op.getLoc();
  Value wanted = op.getVal();
  if (wanted.getType() != b.i64)
    wanted = LLVM::ZExtOp::create(b, loc, b.i64, wanted);
  Value value = b.callAt(
      op, "match", b.i64,
      {b.constant(loc, int64_t(op.getKind())), op.getThreadMask(), wanted});
  return pairOrLow(b, loc, value, op.getType());
}

Value elect(SimBuilder &b, NVVM::ElectSyncOp op) {
  Location loc = op.getLoc();
  Value mask = op.getMembermask();
  Value value = b.callAt(op, "elect", b.i32, {mask ? mask : ones(b, loc)});
  return asPredicate(b, loc, value, op.getType());
}

} // namespace

SimLowering lowerWarpOp(SimBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  bool isKnown = true;
  Value value = readRegister(b, op);
  if (!value)
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](NVVM::Barrier0Op) {
          b.callAt(op, "barrier", {}, {b.constant(loc, 0), b.constant(loc, 0)});
        })
        .Case([&](NVVM::BarrierOp op) { value = barrier(b, op); })
        .Case([&](NVVM::BarrierArriveOp op) { barrierArrive(b, op); })
        .Case([&](NVVM::SyncWarpOp op) {
          b.callAt(op, "warp_sync", {}, {op.getMask()});
        })
        .Case([&](NVVM::ShflOp op) { value = shuffle(b, op); })
        .Case([&](NVVM::VoteSyncOp op) { value = vote(b, op); })
        .Case([&](NVVM::ReduxOp op) { value = redux(b, op); })
        .Case([&](NVVM::MatchSyncOp op) { value = match(b, op); })
        .Case([&](NVVM::ElectSyncOp op) { value = elect(b, op); })
        .Default([&](Operation *) { isKnown = false; });
  if (!isKnown)
    return SimLowering::unknown();
  if (value)
    op->getResult(0).replaceAllUsesWith(value);
  op->erase();
  return {};
}

} // namespace tessera::lowering
