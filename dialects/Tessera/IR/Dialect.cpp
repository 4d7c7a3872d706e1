// Registration of the dialect, and the generated definitions.
#include "dialects/Tessera/IR/Expr.h"
#include "dialects/Tessera/IR/ScalarBuilder.h"
#include "dialects/Tessera/IR/Symbols.h"
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

/// `#tessera.extent<2 * s1 + 3>`.
Attribute ExtentAttr::parse(AsmParser &parser, Type) {
  int64_t coefficient = 1, constant = 0, symbol = 0;
  StringRef name;
  if (parser.parseLess())
    return {};
  OptionalParseResult number = parser.parseOptionalInteger(coefficient);
  if (number.has_value() && (failed(*number) || parser.parseStar()))
    return {};
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return {};
  if (!name.consume_front("s") || name.getAsInteger(10, symbol) || symbol < 0 ||
      symbol >= int64_t(kMaxSymbols)) {
    parser.emitError(place, "a symbol is s0, s1, s2 or s3");
    return {};
  }
  if (succeeded(parser.parseOptionalPlus())) {
    if (parser.parseInteger(constant))
      return {};
  }
  constexpr int64_t kMost = int64_t(1) << 28; // so that no sum overflows
  if (coefficient < 1 || coefficient > kMost || std::abs(constant) > kMost) {
    parser.emitError(place, "an extent is more than once its symbol, and its "
                            "numbers are at most 268435456");
    return {};
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), symbol, coefficient, constant);
}

void ExtentAttr::print(AsmPrinter &printer) const {
  printer << '<';
  if (getCoefficient() != 1)
    printer << getCoefficient() << " * ";
  printer << 's' << getSymbol();
  if (getConstant() != 0)
    printer << " + " << getConstant();
  printer << '>';
}

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
