// ldmatrix and mma.sync.
#include "lowering/GPU/Sim/SimBuilder.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "runtime/sim/Fragments.h"

using namespace mlir;
using tessera::runtime::sim::MmaShape;
using tessera::runtime::sim::MmaType;

namespace tessera::lowering {

namespace {

/// Words of 32 bits that a value takes in a fragment.
int64_t wordsOf(SimBuilder &b, Type type) {
  return llvm::divideCeil(int64_t(b.layout.getTypeSizeInBits(type)), 32);
}

/// Loads a result, one number or a struct of numbers, from consecutive words.
Value loadResult(SimBuilder &b, Location loc, Value words, Type type) {
  auto fields = dyn_cast<LLVM::LLVMStructType>(type);
  if (!fields)
    return LLVM::LoadOp::create(b, loc, type, words);
  Value result = LLVM::PoisonOp::create(b, loc, type);
  int64_t at = 0;
  for (auto [index, field] : llvm::enumerate(fields.getBody())) {
    Value value =
        LLVM::LoadOp::create(b, loc, field, b.word(loc, words, at), 4);
    result = LLVM::InsertValueOp::create(b, loc, result, value, index);
    at += wordsOf(b, field);
  }
  return result;
}

LogicalResult loadMatrix(SimBuilder &b, NVVM::LdMatrixOp op) {
  Location loc = op.getLoc();
  if (op.getShape().getM() != 8 || op.getShape().getN() != 8 ||
      op.getEltType() != NVVM::LdStMatrixEltType::B16)
    return op.emitOpError("is of a shape that the emulator does not know: "
                          "expected 8x8 elements of 16 bits");
  Value words = b.stackWords(loc, op.getNum());
  bool transposed = op.getLayout() == NVVM::MMALayout::col;
  b.callAt(op, "load_matrix", {},
           {b.asGeneric(loc, op.getPtr()), b.constant(loc, op.getNum()),
            b.constant(loc, transposed), words});
  op.replaceAllUsesWith(loadResult(b, loc, words, op.getType()));
  op.erase();
  return success();
}

std::optional<MmaType> typeOf(NVVM::MMATypes type) {
  switch (type) {
  case NVVM::MMATypes::f16:
    return MmaType::F16;
  case NVVM::MMATypes::bf16:
    return MmaType::BF16;
  case NVVM::MMATypes::tf32:
    return MmaType::TF32;
  case NVVM::MMATypes::f32:
    return MmaType::F32;
  case NVVM::MMATypes::f64:
    return MmaType::F64;
  case NVVM::MMATypes::s8:
    return MmaType::S8;
  case NVVM::MMATypes::u8:
    return MmaType::U8;
  case NVVM::MMATypes::s32:
    return MmaType::S32;
  default:
    return std::nullopt;
  }
}

/// The index of the op's shape in the emulator's table, or -1.
int shapeOf(NVVM::MmaOp op) {
  auto typeOfOperand = [&](std::optional<NVVM::MMATypes> given, Value first) {
    if (!given)
      given = NVVM::MmaOp::inferOperandMMAType(first.getType(),
                                               /*isAccumulator=*/false);
    return given ? typeOf(*given) : std::nullopt;
  };
  auto a = typeOfOperand(op.getMultiplicandAPtxType(), op.getOperandA()[0]);
  auto bType = typeOfOperand(op.getMultiplicandBPtxType(), op.getOperandB()[0]);
  auto c = typeOf(op.accumPtxType()), d = typeOf(op.resultPtxType());
  if (!a || !bType || !c || !d || op.getLayoutA() != NVVM::MMALayout::row ||
      op.getLayoutB() != NVVM::MMALayout::col ||
      op.getIntOverflowBehavior() == NVVM::MMAIntOverflow::satfinite)
    return -1;
  NVVM::MMAShapeAttr shape = op.getShape();
  return runtime::sim::findMmaShape(shape.getM(), shape.getN(), shape.getK(),
                                    *a, *bType, *c, *d);
}

LogicalResult multiply(SimBuilder &b, NVVM::MmaOp op) {
  Location loc = op.getLoc();
  int index = shapeOf(op);
  if (index < 0)
    return op.emitOpError("is of a shape, layout or type that the emulator "
                          "does not know");
  const MmaShape &shape = runtime::sim::mmaShapes()[index];
  int64_t expected = MmaShape::registers(shape.fragmentA, shape.a) +
                     MmaShape::registers(shape.fragmentB, shape.b) +
                     MmaShape::registers(shape.fragmentC, shape.c);
  int64_t given = 0;
  for (Type type : op->getOperandTypes())
    given += wordsOf(b, type);
  if (given != expected)
    return op.emitOpError("takes ")
           << given << " registers, expected " << expected;
  Value operands = b.stackWords(loc, given);
  int64_t at = 0;
  for (Value operand : op->getOperands()) {
    LLVM::StoreOp::create(b, loc, operand, b.word(loc, operands, at), 4);
    at += wordsOf(b, operand.getType());
  }
  Value result =
      b.stackWords(loc, MmaShape::registers(shape.fragmentC, shape.d));
  b.callAt(op, "mma", {}, {b.constant(loc, index), operands, result});
  op.replaceAllUsesWith(loadResult(b, loc, result, op.getType()));
  op.erase();
  return success();
}

} // namespace

SimLowering lowerMatrixOp(SimBuilder &b, Operation *op) {
  if (auto load = dyn_cast<NVVM::LdMatrixOp>(op))
    return {true, loadMatrix(b, load)};
  if (auto mma = dyn_cast<NVVM::MmaOp>(op))
    return {true, multiply(b, mma)};
  return SimLowering::unknown();
}

} // namespace tessera::lowering
