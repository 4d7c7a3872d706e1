// Finds symbols' sizes by comparing shapes that are given with the program's.
#include "tools/tessera/Shapes.h"
#include "dialects/Tessera/IR/Symbols.h"
#include "frontend/io/Npy.h"
#include "lowering/Aot/Interface.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tessera::lowering;
using llvm::createStringError;
using llvm::Twine;

namespace tessera::tool {

namespace {

/// One shape that was given for an argument.
struct GivenShape {
  std::string flag;           ///< that gave it, for errors
  SmallVector<int64_t> sizes; ///< -1 for `?`
};

llvm::Expected<SmallVector<int64_t>> parseShape(StringRef text) {
  SmallVector<StringRef> parts;
  SmallVector<int64_t> sizes;
  text.split(parts, 'x');
  for (StringRef part : parts) {
    int64_t size = -1;
    if (part != "?" &&
        (part.getAsInteger(10, size) || size < 0 || size >= int64_t(1) << 31))
      return createStringError("--shape: '" + part +
                               "' is no size of a dimension");
    sizes.push_back(size);
  }
  return sizes;
}

class SizeFinder {
public:
  SizeFinder(func::FuncOp main)
      : names(ir::symbolNames(main)), sizes(names.size(), kUnknown) {}

  llvm::Error note(const Port &port, const GivenShape &given) {
    if (int64_t(given.sizes.size()) != port.type.getRank())
      return createStringError(given.flag + " gives '" + port.name + "' " +
                               Twine(given.sizes.size()) +
                               " dimensions, and it is " + typeName(port.type));
    for (auto [dim, size] : llvm::enumerate(given.sizes)) {
      bool isSymbol = port.symbolic && port.symbolic->dim == int64_t(dim);
      int64_t expected = port.type.getDimSize(unsigned(dim));
      if (isSymbol) {
        if (llvm::Error error = noteSymbol(port, given, size))
          return error;
      } else if (size < 0) {
        return createStringError(
            given.flag + " leaves dimension " + Twine(dim) + " of '" +
            port.name + "' open, and in the program it is " + Twine(expected) +
            ": which dimensions vary is chosen when a program is exported");
      } else if (size != expected) {
        return createStringError(given.flag + " gives dimension " + Twine(dim) +
                                 " of '" + port.name + "' the size " +
                                 Twine(size) + ", and it is " +
                                 Twine(expected));
      }
    }
    return llvm::Error::success();
  }

  llvm::Expected<SmallVector<int64_t>> result(Symbols symbols) {
    for (auto [name, size] : llvm::zip_equal(names, sizes)) {
      if (size == kUnknown && symbols == Symbols::mayStay)
        size = kStays;
      if (size < 0 && symbols == Symbols::needSizes)
        return createStringError("the dimension '" + name +
                                 "' is symbolic: --shape must give the shape "
                                 "of an argument that has it");
    }
    return sizes;
  }

private:
  static constexpr int64_t kStays = -1, kUnknown = -2;

  llvm::Error noteSymbol(const Port &port, const GivenShape &given,
                         int64_t size) {
    const runtime::SymbolicDim &dim = *port.symbolic;
    const std::string &name = names[size_t(dim.symbol)];
    int64_t value = kStays;
    if (size >= 0) {
      value = (size - dim.constant) / dim.coefficient;
      if (value < 0 || dim.coefficient * value + dim.constant != size)
        return createStringError(given.flag + " gives dimension " +
                                 Twine(dim.dim) + " of '" + port.name +
                                 "' the size " + Twine(size) + ", and it is " +
                                 Twine(dim.coefficient) + " * " + name + " + " +
                                 Twine(dim.constant));
    }
    int64_t &known = sizes[size_t(dim.symbol)];
    if (known != kUnknown && known != value)
      return createStringError(given.flag + " gives the symbol '" + name +
                               "' the size " + text(value) + " by '" +
                               port.name + "', and before it was " +
                               text(known));
    known = value;
    return llvm::Error::success();
  }

  static std::string text(int64_t size) {
    return size < 0 ? "?" : std::to_string(size);
  }

  SmallVector<std::string> names;
  SmallVector<int64_t> sizes;
};

} // namespace

llvm::Expected<SmallVector<int64_t>>
symbolSizes(func::FuncOp main, const Arguments &arguments, Symbols symbols) {
  auto interface = interfaceOf(main);
  if (!interface)
    return interface.takeError();
  auto shapes = arguments.assignments(OPT_shape);
  auto inputs = arguments.assignments(OPT_input);
  SizeFinder finder(main);
  SmallVector<StringRef> known;
  for (const Port &port : interface->arguments) {
    known.push_back(port.name);
    auto shape = shapes.find(port.name);
    auto input = inputs.find(port.name);
    GivenShape given;
    if (shape != shapes.end()) {
      auto sizes = parseShape(shape->second);
      if (!sizes)
        return sizes.takeError();
      given = {"--shape", *sizes};
      shapes.erase(shape);
    } else if (input != inputs.end() && port.symbolic &&
               StringRef(input->second).starts_with("@")) {
      io::RawTensor file = io::readNpy(input->second.substr(1));
      given = {"--input", {file.shape.begin(), file.shape.end()}};
    } else {
      continue;
    }
    if (llvm::Error error = finder.note(port, given))
      return error;
  }
  if (!shapes.empty())
    return createStringError("--shape: there is no argument '" +
                             shapes.begin()->first + "'" +
                             suggestion(shapes.begin()->first, known));
  return finder.result(symbols);
}

} // namespace tessera::tool
