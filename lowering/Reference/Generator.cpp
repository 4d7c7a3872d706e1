// Ops of the interpreter that make elements from nothing but their place.
#include "lowering/Reference/Philox.h"
#include "lowering/Reference/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera::ir;

namespace tessera::lowering::reference {

static Tensor constant(ConstantOp op) {
  Tensor result(op.getType());
  withElementType(result.element(), [&](auto tag) {
    using T = decltype(tag);
    T value;
    if constexpr (isReal<T>) {
      llvm::APFloat number = cast<FloatAttr>(op.getValue()).getValue();
      if constexpr (isNarrow<T>)
        value = T(number);
      else if constexpr (std::same_as<T, float>)
        value = number.convertToFloat();
      else
        value = number.convertToDouble();
    } else {
      llvm::APInt number = cast<IntegerAttr>(op.getValue()).getValue();
      value = static_cast<T>(number.getSExtValue());
    }
    llvm::fill(result.as<T>(), value);
  });
  return result;
}

static Tensor iota(IotaOp op) {
  Tensor result(op.getType());
  forEachIndex(result.shape(), [&](ArrayRef<int64_t> index, int64_t at) {
    int64_t position = index[op.getDim()];
    withElementType(result.element(), [&](auto tag) {
      using T = decltype(tag);
      result.as<T>()[at] = fromInteger<T>(position);
    });
  });
  return result;
}

static Tensor extent(ExtentOp op) {
  Tensor result(op.getType());
  int64_t number = cast<RankedTensorType>(op.getOf()).getNumElements();
  withElementType(result.element(), [&](auto tag) {
    using T = decltype(tag);
    for (T &x : result.as<T>())
      x = fromInteger<T>(number);
  });
  return result;
}

static Tensor randomBits(RandomBitsOp op, const Tensor &key) {
  Tensor result(op.getType());
  std::array<uint32_t, 2> words = {uint32_t(key.as<int32_t>()[0]),
                                   uint32_t(key.as<int32_t>()[1])};
  for (int64_t i = 0; i < result.size(); ++i) {
    uint64_t block = i / 4;
    result.as<int32_t>()[i] =
        philox({uint32_t(block), uint32_t(block >> 32), 0, 0}, words)[i % 4];
  }
  return result;
}

std::optional<Tensor> evaluateGenerator(Operation *op, Operands operands) {
  return llvm::TypeSwitch<Operation *, std::optional<Tensor>>(op)
      .Case([&](ConstantOp op) { return constant(op); })
      .Case([&](IotaOp op) { return iota(op); })
      .Case([&](ExtentOp op) { return extent(op); })
      .Case([&](RandomBitsOp op) { return randomBits(op, *operands[0]); })
      .Default([](auto) { return std::nullopt; });
}

} // namespace tessera::lowering::reference
