// Weights as resources of MLIR's text form, which keeps them as hexadecimal
// digits at the end of the file.
#include "lowering/Aot/InsideWeights.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace tessera::lowering {

Attribute insideWeights(MLIRContext *context, ArrayRef<InsideWeight> weights) {
  NamedAttrList list;
  for (const InsideWeight &weight : weights) {
    // A bool is a byte, as everywhere in memory.
    Type element = weight.type.getElementType();
    if (element.isInteger(1))
      element = IntegerType::get(context, 8);
    auto type = RankedTensorType::get(weight.type.getShape(), element);
    auto blob = UnmanagedAsmResourceBlob::allocateWithAlign(
        ArrayRef(weight.bytes.data(), weight.bytes.size()), 8);
    list.append(weight.name, DenseResourceElementsAttr::get(type, weight.name,
                                                            std::move(blob)));
  }
  return list.getDictionary(context);
}

bool isInsideWeights(Attribute attribute) {
  auto weights = dyn_cast_or_null<DictionaryAttr>(attribute);
  return weights && llvm::all_of(weights, [](NamedAttribute weight) {
           return isa<DenseResourceElementsAttr>(weight.getValue());
         });
}

llvm::Expected<StringRef> insideWeight(ModuleOp module, const Port &argument) {
  auto weights = module->getAttrOfType<DictionaryAttr>(kWeightsFile);
  auto value = weights ? dyn_cast_or_null<DenseResourceElementsAttr>(
                             weights.get(argument.name))
                       : nullptr;
  AsmResourceBlob *blob = value ? value.getRawHandle().getBlob() : nullptr;
  if (!blob)
    return llvm::createStringError(
        "the program holds no value for the weight '" + argument.name +
        "', which is " + typeName(argument.type));
  ArrayRef<char> bytes = blob->getData();
  if (int64_t(bytes.size()) != argument.bytes())
    return llvm::createStringError("the weight '" + argument.name + "' is " +
                                   typeName(argument.type) +
                                   ", and the program holds " +
                                   llvm::Twine(bytes.size()) + " bytes for it");
  return StringRef(bytes.data(), bytes.size());
}

} // namespace tessera::lowering
