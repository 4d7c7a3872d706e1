// Names and roles of a program's arguments and results.
#include "lowering/Aot/Interface.h"
#include "dialects/Tessera/IR/Symbols.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace tessera::lowering {

int64_t Port::elements() const {
  int64_t count = 1;
  for (int64_t size : type.getShape())
    count *= ShapedType::isDynamic(size) ? 1 : size;
  return count;
}

int64_t Port::elementBytes() const {
  return llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

runtime::DType dtypeOf(Type element) {
  using runtime::DType;
  if (element.isF32())
    return DType::f32;
  if (element.isF64())
    return DType::f64;
  if (element.isF16())
    return DType::f16;
  if (element.isBF16())
    return DType::bf16;
  switch (element.getIntOrFloatBitWidth()) {
  case 1:
    return DType::boolean;
  case 8:
    return DType::i8;
  case 16:
    return DType::i16;
  case 32:
    return DType::i32;
  default:
    return DType::i64;
  }
}

std::string dtypeName(Type element) {
  return std::string(runtime::nameOf(dtypeOf(element)));
}

std::string typeName(RankedTensorType type) {
  return dtypeName(type.getElementType()) + "[" +
         llvm::join(llvm::map_range(type.getShape(),
                                    [](int64_t size) {
                                      return ShapedType::isDynamic(size)
                                                 ? std::string("?")
                                                 : std::to_string(size);
                                    }),
                    ",") +
         "]";
}

std::string sizeName(const runtime::SymbolicDim &dim, StringRef symbolName) {
  std::string text = symbolName.str();
  if (dim.coefficient != 1)
    text = std::to_string(dim.coefficient) + " * " + text;
  if (dim.constant != 0)
    text += (dim.constant < 0 ? " - " : " + ") +
            std::to_string(std::abs(dim.constant));
  return text;
}

bool isProgramName(StringRef name) {
  auto isPart = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; };
  return !name.empty() && name.size() <= kMostNameBytes &&
         (llvm::isAlpha(name[0]) || name[0] == '_') &&
         llvm::all_of(name, isPart);
}

bool isNameBeside(StringRef file) {
  return !file.empty() && file != "." && file != ".." && !file.contains('/') &&
         !file.contains('\0');
}

/// Words that C or C++ keep for themselves and a model might use as names.
static bool isKeyword(StringRef name) {
  static const llvm::StringSet<> words = {
      "alignas",  "alignof",  "and",      "asm",       "auto",   "bool",
      "break",    "case",     "catch",    "char",      "class",  "concept",
      "const",    "continue", "default",  "delete",    "do",     "double",
      "else",     "enum",     "explicit", "export",    "extern", "false",
      "float",    "for",      "friend",   "goto",      "if",     "inline",
      "int",      "long",     "mutable",  "namespace", "new",    "not",
      "operator", "or",       "private",  "protected", "public", "register",
      "requires", "restrict", "return",   "short",     "signed", "sizeof",
      "static",   "struct",   "switch",   "template",  "this",   "throw",
      "true",     "try",      "typedef",  "typename",  "union",  "unsigned",
      "using",    "virtual",  "void",     "volatile",  "while",  "xor"};
  return words.contains(name);
}

static std::string cIdentifier(StringRef name) {
  std::string text;
  for (char c : name)
    text += llvm::isAlnum(c) ? c : '_';
  if (text.empty() || llvm::isDigit(text.front()))
    text = "_" + text;
  return isKeyword(text) ? text + "_" : text;
}

/// The name, or with a number at its end, such that it is not taken yet.
static std::string unique(std::string name, llvm::StringSet<> &taken) {
  std::string tried = name;
  for (int i = 2; !taken.insert(tried).second; ++i)
    tried = name + "_" + std::to_string(i);
  return tried;
}

static llvm::Expected<std::string>
nameOf(Attribute attribute, std::string otherwise, llvm::StringSet<> &taken) {
  if (!attribute)
    return unique(std::move(otherwise), taken);
  auto text = dyn_cast<StringAttr>(attribute);
  if (!text || !isProgramName(text.getValue()))
    return llvm::createStringError("tessera.name must be " + kNameRule);
  if (!taken.insert(text.getValue()).second)
    return llvm::createStringError("two of the arguments, or of the results, "
                                   "have the name '" +
                                   text.getValue() + "'");
  return text.str();
}

static Port portOf(std::string name, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  Port port{std::move(name), "", tensor};
  SmallVector<int64_t> shape(tensor.getShape());
  for (auto [dim, size] : llvm::enumerate(shape)) {
    ir::Extent extent = ir::extentOf(tensor, unsigned(dim));
    if (!extent.isSymbolic())
      continue;
    port.symbolic = {int64_t(dim), extent.symbol, extent.coefficient,
                     extent.constant};
    size = ShapedType::kDynamic;
  }
  port.type = RankedTensorType::get(shape, tensor.getElementType());
  return port;
}

static llvm::Error connectUpdates(func::FuncOp main, Interface &interface) {
  for (auto [i, result] : llvm::enumerate(interface.results)) {
    Attribute attribute = main.getResultAttr(i, kUpdates);
    if (!attribute)
      continue;
    auto number = dyn_cast<IntegerAttr>(attribute);
    int64_t argument =
        number && number.getType().isSignlessInteger(64) ? number.getInt() : -1;
    if (argument < 0 || argument >= int64_t(interface.arguments.size()))
      return llvm::createStringError("result '" + result.name +
                                     "' updates an argument that there is not");
    Port &updated = interface.arguments[argument];
    if (main.getArgumentTypes()[argument] != main.getResultTypes()[i])
      return llvm::createStringError("result '" + result.name + "' is " +
                                     typeName(result.type) + " and updates '" +
                                     updated.name + "', which is " +
                                     typeName(updated.type));
    if (updated.partner >= 0)
      return llvm::createStringError("two results update '" + updated.name +
                                     "'");
    result.partner = argument;
    updated.partner = int64_t(i);
  }
  return llvm::Error::success();
}

llvm::Expected<Interface> interfaceOf(func::FuncOp main) {
  Interface interface;
  llvm::StringSet<> arguments, results;
  for (auto [i, type] : llvm::enumerate(main.getArgumentTypes())) {
    auto name =
        nameOf(main.getArgAttr(i, kName), "x" + std::to_string(i), arguments);
    if (!name)
      return name.takeError();
    Port port = portOf(std::move(*name), type);
    port.isWeight = bool(main.getArgAttr(i, kWeight));
    if (port.isWeight && port.symbolic)
      return llvm::createStringError("the weight '" + port.name +
                                     "' has a symbolic dimension");
    interface.arguments.push_back(std::move(port));
  }
  bool isOnly = main.getNumResults() == 1;
  for (auto [i, type] : llvm::enumerate(main.getResultTypes())) {
    auto name = nameOf(main.getResultAttr(i, kName),
                       isOnly ? "y" : "y" + std::to_string(i), results);
    if (!name)
      return name.takeError();
    interface.results.push_back(portOf(std::move(*name), type));
  }
  if (llvm::Error error = connectUpdates(main, interface))
    return std::move(error);
  llvm::StringSet<> symbols;
  for (const std::string &name : ir::symbolNames(main)) {
    interface.symbols.push_back(name);
    interface.cSymbols.push_back(unique(cIdentifier(name), symbols));
  }
  // In C, all are fields of one struct.
  llvm::StringSet<> fields;
  for (Port &port : interface.arguments)
    port.cName = unique(cIdentifier(port.name), fields);
  for (Port &port : interface.results)
    port.cName = port.partner >= 0 ? interface.arguments[port.partner].cName
                                   : unique(cIdentifier(port.name), fields);
  return interface;
}

} // namespace tessera::lowering
