// Types as users read them in error texts.
#include "dialects/Tessera/IR/Symbols.h"
#include "dialects/Tessera/IR/Tessera.h"

using namespace mlir;

namespace tessera::ir {

static std::string elementText(Type type) {
  if (type.isInteger(1))
    return "bool";
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::string typeText(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return elementText(type);
  std::string text = elementText(tensor.getElementType());
  llvm::raw_string_ostream out(text);
  out << '[';
  llvm::interleave(
      tensor.getShape(), out, [&](int64_t size) { out << sizeText(size); },
      ",");
  out << ']';
  return text;
}

} // namespace tessera::ir
