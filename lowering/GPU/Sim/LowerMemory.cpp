// Asynchronous copies, fences, atomics, traps, and conversions of narrow
// floats.
#include "lowering/GPU/Sim/SimBuilder.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tessera::lowering {

namespace {

void copyAsync(SimBuilder &b, NVVM::CpAsyncOp op) {
  Location loc = op.getLoc();
  Value bytes = b.constant(loc, op.getSize());
  Value sourceBytes = op.getCpSize() ? op.getCpSize() : bytes;
  b.callAt(op, "copy_async", {},
           {b.asGeneric(loc, op.getDst()), b.asGeneric(loc, op.getSrc()), bytes,
            sourceBytes});
}

void fence(SimBuilder &b, Location loc, bool acquires, bool releases) {
  b.call(loc, "fence", {},
         {b.lane(), b.constant(loc, acquires), b.constant(loc, releases)});
}

/// A fence stays a fence of the host, since blocks run in parallel.
void hostFence(SimBuilder &b, Location loc) {
  LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::seq_cst);
}

bool isNarrow(Type type) { return type.isF16() || type.isBF16(); }

/// One element of a conversion between f32 and f16 or bf16.
Value convertElement(SimBuilder &b, Location loc, Value value, Type to) {
  Type from = value.getType(), i16 = b.getI16Type();
  if (isNarrow(from)) {
    Value bits = LLVM::BitcastOp::create(b, loc, i16, value);
    bits = LLVM::ZExtOp::create(b, loc, b.i32, bits);
    Value number =
        b.call(loc, from.isF16() ? "f16_to_f32" : "bf16_to_f32", b.f32, {bits});
    return to == b.f32 ? number : LLVM::FPExtOp::create(b, loc, to, number);
  }
  Value bits =
      b.call(loc, to.isF16() ? "f32_to_f16" : "f32_to_bf16", b.i32, {value});
  bits = LLVM::TruncOp::create(b, loc, i16, bits);
  return LLVM::BitcastOp::create(b, loc, to, bits);
}

/// fpext and fptrunc of narrow floats, of numbers or of vectors.
SimLowering convert(SimBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  Value from = op->getOperand(0);
  Type fromElement = getElementTypeOrSelf(from.getType());
  Type toElement = getElementTypeOrSelf(op->getResult(0).getType());
  if (!isNarrow(fromElement) && !isNarrow(toElement))
    return SimLowering::unknown();
  if (!isNarrow(fromElement) && fromElement != b.f32)
    return {true, op->emitOpError("converts f64 to a narrow float: the "
                                  "emulator takes f32")};
  Value result;
  if (auto type = dyn_cast<VectorType>(op->getResult(0).getType())) {
    result = LLVM::PoisonOp::create(b, loc, type);
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      Value index = b.constant(loc, i);
      Value element = LLVM::ExtractElementOp::create(b, loc, from, index);
      element = convertElement(b, loc, element, toElement);
      result = LLVM::InsertElementOp::create(b, loc, result, element, index);
    }
  } else {
    result = convertElement(b, loc, from, toElement);
  }
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return {};
}

/// PTX ISA, "cvt": two f32 packed as a vector whose element 0 is the low one.
template <typename Op> LogicalResult convertPair(SimBuilder &b, Op op) {
  Location loc = op.getLoc();
  if (op.getRnd() != NVVM::FPRoundingMode::RN || op.getRelu() ||
      op.getSat() != NVVM::SaturationMode::NONE)
    return op.emitOpError("rounds or saturates in a way that the emulator does "
                          "not know: expected rn");
  auto type = cast<VectorType>(op.getType());
  Value result = LLVM::PoisonOp::create(b, loc, type);
  Value parts[] = {op.getSrcLo(), op.getSrcHi()};
  for (auto [index, part] : llvm::enumerate(parts))
    result = LLVM::InsertElementOp::create(
        b, loc, result, convertElement(b, loc, part, type.getElementType()),
        b.constant(loc, int64_t(index)));
  op.replaceAllUsesWith(result);
  return success();
}

LogicalResult convertTf32(SimBuilder &b, NVVM::ConvertFloatToTF32Op op) {
  Location loc = op.getLoc();
  bool tiesAway = op.getRnd() == NVVM::FPRoundingMode::RNA;
  if ((!tiesAway && op.getRnd() != NVVM::FPRoundingMode::RN) || op.getRelu() ||
      op.getSat() != NVVM::SaturationMode::NONE)
    return op.emitOpError("rounds or saturates in a way that the emulator does "
                          "not know: expected rn or rna");
  op.replaceAllUsesWith(b.call(loc, "f32_to_tf32", b.i32,
                               {op.getSrc(), b.constant(loc, tiesAway)}));
  return success();
}

/// Whether a loop may come to this op until another thread changes memory.
bool isLook(Operation *op) {
  if (auto load = dyn_cast<LLVM::LoadOp>(op))
    return load.getOrdering() != LLVM::AtomicOrdering::not_atomic ||
           load.getVolatile_();
  if (auto update = dyn_cast<LLVM::AtomicRMWOp>(op))
    return update.getBinOp() == LLVM::AtomicBinOp::xchg;
  return isa<LLVM::AtomicCmpXchgOp>(op);
}

/// Memory ops of the LLVM dialect stay, without the scopes of a device.
bool dropScope(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<LLVM::LoadOp, LLVM::StoreOp, LLVM::AtomicCmpXchgOp,
            LLVM::AtomicRMWOp>([](auto op) {
        op.removeSyncscopeAttr();
        return true;
      })
      .Default(false);
}

} // namespace

void yieldBeforeLooks(SimBuilder &b, LLVM::LLVMFuncOp func) {
  SmallVector<Operation *> looks;
  func.walk([&](Operation *op) {
    if (isLook(op))
      looks.push_back(op);
  });
  for (Operation *op : looks) {
    b.setInsertionPoint(op);
    b.callAt(op, "yield", {}, {});
  }
}

SimLowering lowerMemoryOp(SimBuilder &b, Operation *op) {
  if (dropScope(op))
    return {};
  if (isa<LLVM::FPExtOp, LLVM::FPTruncOp>(op))
    return convert(b, op);
  Location loc = op->getLoc();
  SimLowering lowered;
  auto lane = [&] { return b.lane(); };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](NVVM::CpAsyncOp op) { copyAsync(b, op); })
      .Case([&](NVVM::CpAsyncCommitGroupOp) {
        b.call(loc, "copy_commit", {}, {lane()});
      })
      .Case([&](NVVM::CpAsyncWaitGroupOp op) {
        b.callAt(op, "copy_wait", {}, {b.constant(loc, op.getN())});
      })
      .Case([&](NVVM::MembarOp) {
        fence(b, loc, true, true);
        hostFence(b, loc);
      })
      .Case([&](LLVM::FenceOp op) {
        auto order = op.getOrdering();
        fence(b, loc, order != LLVM::AtomicOrdering::release,
              order != LLVM::AtomicOrdering::acquire);
        hostFence(b, loc);
      })
      .Case<LLVM::Trap, LLVM::DebugTrap, LLVM::UBSanTrap>(
          [&](Operation *op) { b.callAt(op, "trap", {}, {}); })
      .Case([&](NVVM::NanosleepOp op) { b.callAt(op, "yield", {}, {}); })
      .Case([&](NVVM::PrefetchOp) {})
      .Case([&](NVVM::ConvertFloatToTF32Op op) {
        lowered.result = convertTf32(b, op);
      })
      .Case([&](NVVM::ConvertF32x2ToF16x2Op op) {
        lowered.result = convertPair(b, op);
      })
      .Case([&](NVVM::ConvertF32x2ToBF16x2Op op) {
        lowered.result = convertPair(b, op);
      })
      .Default([&](Operation *) { lowered.isKnown = false; });
  if (lowered.isKnown && succeeded(lowered.result))
    op->erase();
  return lowered;
}

} // namespace tessera::lowering
