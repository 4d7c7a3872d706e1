// Registration of the dialect, and the generated definitions.
#include "dialects/Tessera/IR/Expr.h"
#include "dialects/Tessera/IR/ScalarBuilder.h"
#include "dialects/Tessera/IR/Tessera.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera::ir;

#include "dialects/Tessera/IR/Dialect.cpp.inc"
#include "dialects/Tessera/IR/Enums.cpp.inc"
#include "dialects/Tessera/IR/Interfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Tessera/IR/Attributes.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Tessera/IR/Ops.cpp.inc"

void TesseraDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Tessera/IR/Attributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Tessera/IR/Ops.cpp.inc"
      >();
}

Operation *TesseraDialect::materializeConstant(OpBuilder &builder,
                                               Attribute value, Type type,
                                               Location loc) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto number = dyn_cast<TypedAttr>(value);
  if (!tensor || !number || number.getType() != tensor.getElementType())
    return nullptr;
  return ConstantOp::create(builder, loc, tensor, number);
}
