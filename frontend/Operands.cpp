// Promotion and broadcasting, as explicit ops.
#include "frontend/Operands.h"

using namespace mlir;

namespace tessera::detail {

DType dtypeFor(const Operand &x) {
  return x.isScalar() ? x.scalar().dtype : x.tensor().dtype();
}

Shape shapeOf(const Operand &x) {
  return x.isScalar() ? Shape() : x.tensor().shape();
}

std::string typesText(Operands operands) {
  std::string text;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i > 0)
      text += i + 1 == operands.size() ? " and " : ", ";
    text += typeText(*operands[i]);
  }
  return text;
}

DType commonDType(Recording &r, Operands operands) {
  std::optional<DType> tensors, numbers;
  for (const Operand *x : operands) {
    DType dtype = dtypeFor(*x);
    if (!isSupported(dtype))
      r.fail<TypeError>("no op computes with " +
                        std::string(runtime::nameOf(dtype)) + ": " +
                        typesText(operands));
    auto &meet = x->isScalar() ? numbers : tensors;
    meet = meet ? result_type(*meet, dtype) : dtype;
  }
  if (!tensors || !numbers)
    return tensors ? *tensors : *numbers;
  // A number decides only what kind of dtype it is, not which.
  auto rank = [](DType dtype) {
    return runtime::isFloat(dtype) ? 2 : runtime::isBool(dtype) ? 0 : 1;
  };
  return rank(*numbers) > rank(*tensors) ? *numbers : *tensors;
}

Shape commonShape(Recording &r, Operands operands) {
  SmallVector<int64_t> dims; // innermost first
  for (const Operand *x : operands) {
    if (x->isScalar())
      continue;
    const Shape &shape = x->tensor().shape();
    for (size_t i = 0; i < shape.size(); ++i) {
      int64_t dim = shape[shape.size() - 1 - i];
      if (i == dims.size())
        dims.push_back(dim);
      else if (dims[i] == 1)
        dims[i] = dim;
      else if (dim != 1 && dim != dims[i])
        r.fail<ShapeError>("the shapes do not broadcast: " +
                           typesText(operands));
    }
  }
  return Shape(dims.rbegin(), dims.rend());
}

SmallVector<ir::Expr, 3> together(Recording &r, Operands operands,
                                  DType dtype) {
  Shape shape = commonShape(r, operands);
  SmallVector<ir::Expr, 3> exprs;
  for (const Operand *x : operands)
    exprs.push_back(r.broadcast(r.expr(*x, dtype), shape));
  return exprs;
}

ir::Expr floating(Recording &r, const Operand &x) {
  DType dtype = dtypeFor(x);
  if (!isSupported(dtype))
    r.fail<TypeError>("no op computes with " +
                      std::string(runtime::nameOf(dtype)) + ": " + typeText(x));
  return r.expr(x, floatingDType(dtype));
}

void requireNumbers(Recording &r, DType dtype, Operands operands) {
  if (runtime::isBool(dtype))
    r.fail<TypeError>("bools have no arithmetic, convert them with astype: " +
                      typesText(operands));
}

int64_t checkAxis(Recording &r, int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    r.fail<IndexError>("there is no axis " + std::to_string(axis) +
                       " in a tensor of " + std::to_string(rank) +
                       " dimensions");
  return axis < 0 ? axis + rank : axis;
}

SmallVector<int64_t> checkAxes(Recording &r, const Axes &axes, int64_t rank) {
  SmallVector<int64_t> result;
  if (axes.all())
    return llvm::to_vector(llvm::seq<int64_t>(0, rank));
  for (int64_t axis : axes.list())
    result.push_back(checkAxis(r, axis, rank));
  llvm::sort(result);
  for (size_t i = 1; i < result.size(); ++i)
    if (result[i] == result[i - 1])
      r.fail<IndexError>("axis " + std::to_string(result[i]) +
                         " is named twice");
  return result;
}

} // namespace tessera::detail
