// Replaces f32 in a function by another element type.
#include "test/Numerics/driver/ElementTypes.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;

namespace tessera::numerics {

static Attribute convertNumber(FloatAttr number, Type element) {
  if (!isa<FloatType>(element))
    return IntegerAttr::get(element, int64_t(number.getValueAsDouble()));
  APFloat value = number.getValue();
  bool inexact;
  value.convert(cast<FloatType>(element).getFloatSemantics(),
                APFloat::rmNearestTiesToEven, &inexact);
  return FloatAttr::get(element, value);
}

func::FuncOp withElementType(func::FuncOp function, Type element) {
  func::FuncOp copy = function.clone();
  function->getBlock()->getOperations().insertAfter(function->getIterator(),
                                                    copy);
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](Type type) -> std::optional<Type> {
    return type.isF32() ? std::optional(element) : std::nullopt;
  });
  replacer.addReplacement(
      [&](FloatAttr number) -> std::optional<std::pair<Attribute, WalkResult>> {
        if (!number.getType().isF32())
          return std::nullopt;
        return std::pair(convertNumber(number, element), WalkResult::skip());
      });
  replacer.recursivelyReplaceElementsIn(copy, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  return copy;
}

} // namespace tessera::numerics
