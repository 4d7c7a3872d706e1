// Bounds, parses and verifies the text of a program.
#include "lowering/ProgramReader.h"
#include "dialects/Tessera/IR/Symbols.h"
#include "dialects/Tessera/IR/Tessera.h"
#include "lowering/Aot/InsideWeights.h"
#include "lowering/Aot/Interface.h"
#include "lowering/CodeGen/SourceDiagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace tessera::lowering {

namespace {

/// Goes once over the text, with the place in lines and columns.
class Scanner {
public:
  Scanner(StringRef text, StringRef name, std::string &error)
      : text(text), name(name), error(error) {}

  bool run() {
    if (text.size() > kMostProgramBytes)
      return fail("the program has " + Twine(text.size()) +
                  " bytes, more than the " + Twine(kMostProgramBytes) +
                  " that are read; weights belong into a weights file");
    for (; at < text.size(); ++at)
      if (!step())
        return false;
    if (inResources) // MLIR's parser would read past the end.
      return fail("the file ends inside its resources");
    return checkLine();
  }

private:
  bool step() {
    char c = text[at];
    if (c == '\n')
      return newLine();
    if (c == '\0')
      return fail("a zero byte: this is no text");
    if (c == '"')
      return skipString();
    if (c == '/' && at + 1 < text.size() && text[at + 1] == '/') {
      at = std::min(text.find('\n', at), text.size()) - 1;
      return true;
    }
    if (c == '{' && text.substr(at).starts_with("{-#"))
      inResources = true;
    if (c == '#' && text.substr(at).starts_with("#-}"))
      inResources = false;
    if (c == '#' || c == '!')
      return alias();
    if (c == '(' || c == '[' || c == '{' || c == '<')
      return deepen(++nesting);
    bool isArrow = c == '>' && at > 0 && text[at - 1] == '-';
    if ((c == ')' || c == ']' || c == '}' || c == '>') && !isArrow &&
        nesting > 0)
      --nesting;
    return true;
  }

  /// What the definition of an alias stands for.
  struct Expansion {
    int depth = 0;
    size_t bytes = 0;
  };

  /// `#name` or `!name`: a definition at the beginning of a line, else a use.
  bool alias() {
    size_t end = text.find_if_not(
        [](char c) {
          return llvm::isAlnum(c) || StringRef("_$.-").contains(c);
        },
        at + 1);
    StringRef word = text.slice(at, end);
    if (at == lineStart &&
        text.substr(at + word.size()).ltrim(' ').starts_with("=")) {
      finishAlias();
      defined = word;
      definedAt = at;
      base = nesting;
      at += word.size() - 1;
      return true;
    }
    at += word.size() - 1;
    auto used = aliases.find(word);
    if (used == aliases.end())
      return true;
    if (!defined.empty()) {
      current.bytes += used->second.bytes;
      expandedBytes += used->second.bytes;
    }
    if (expandedBytes > kMostProgramBytes)
      return fail("aliases stand for more than " + Twine(kMostProgramBytes) +
                  " bytes");
    return deepen(nesting + used->second.depth + 1);
  }

  bool deepen(int depth) {
    current.depth = std::max(current.depth, depth - base);
    return depth <= kMostNesting || fail("brackets are nested more than " +
                                         Twine(kMostNesting) + " deep");
  }

  /// The definition that ends here is complete, if there is one.
  void finishAlias() {
    if (!defined.empty())
      aliases[defined] = {current.depth, current.bytes + (at - definedAt)};
    defined = "";
    current = {};
  }

  bool skipString() {
    size_t begin = at;
    for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
      at += text[at] == '\\';
    if (at < text.size() && text[at] == '\n')
      --at; // the parser tells of it better
    stringBytes += std::min(at, text.size()) - begin;
    return true;
  }

  /// Strings do not count: they may hold weights.
  bool checkLine() {
    return at - lineStart - stringBytes <= kMostLineBytes ||
           fail("the line has more than " + Twine(kMostLineBytes) + " bytes");
  }

  bool newLine() {
    if (!checkLine())
      return false;
    if (nesting <= base)
      finishAlias();
    ++line;
    lineStart = at + 1;
    stringBytes = 0;
    return true;
  }

  bool fail(const Twine &what) {
    error = (name + ":" + Twine(line) + ":" + Twine(at - lineStart + 1) +
             ": error: " + what + "\n")
                .str();
    return false;
  }

  StringRef text, name;
  std::string &error;
  size_t at = 0, lineStart = 0, stringBytes = 0;
  int64_t line = 1;
  int nesting = 0;
  bool inResources = false; ///< between `{-#` and `#-}`
  // Aliases, and the one that is being defined.
  llvm::StringMap<Expansion> aliases;
  StringRef defined;
  size_t definedAt = 0, expandedBytes = 0;
  Expansion current;
  int base = 0; ///< the nesting where it begins
};

/// "FILE:LINE:COLUMN: error: " for a location of the file.
std::string placeOf(Operation *op) {
  if (auto place = dyn_cast<FileLineColLoc>(op->getLoc()))
    return (place.getFilename().getValue() + ":" + Twine(place.getLine()) +
            ":" + Twine(place.getColumn()) + ": error: ")
        .str();
  return "error: ";
}

/// Lists the ops that no dialect of ours has.
bool holdsUnknownOps(ModuleOp module, std::string &text) {
  module.walk([&](Operation *op) {
    if (!op->isRegistered())
      text += placeOf(op) + "unsupported op '" +
              op->getName().getStringRef().str() + "'\n";
  });
  return !text.empty();
}

LogicalResult checkVersion(ModuleOp module) {
  Attribute attribute = module->getAttr(kVersion);
  if (!attribute)
    return success();
  auto version = dyn_cast<IntegerAttr>(attribute);
  if (version && version.getType().isSignlessInteger(64) &&
      version.getInt() == kProgramVersion)
    return success();
  return module.emitError("the program is written for version ")
         << attribute << " of the format; this is version " << kProgramVersion;
}

LogicalResult checkWeightsFile(ModuleOp module) {
  Attribute attribute = module->getAttr(kWeightsFile);
  auto name = dyn_cast_or_null<StringAttr>(attribute);
  if (!attribute || (name && isNameBeside(name.getValue())) ||
      isInsideWeights(attribute))
    return success();
  return module.emitError(kWeightsFile.str() + " is ")
         << attribute << ", and not the name of a file in the same folder";
}

/// Gives the symbols their sizes, or other numbers if some before them are no
/// symbols any more.
void chooseSizes(ModuleOp module, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> values(sizes);
  SmallVector<bool> stays;
  unsigned symbols = 0;
  for (int64_t &size : values) {
    stays.push_back(size < 0);
    if (size < 0)
      size = ir::StandIns::of(symbols++);
  }
  func::FuncOp main = mainFunction(module);
  SmallVector<std::string> names = ir::symbolNames(main);
  ir::instantiate(module, values);
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    auto named = main.getArgAttrOfType<ArrayAttr>(i, ir::kSymbols);
    if (!named)
      continue;
    bool any = false;
    auto kept = llvm::map_to_vector(named, [&](Attribute name) -> Attribute {
      auto found = llvm::find(names, cast<StringAttr>(name).getValue());
      if (found == names.end() || stays[size_t(found - names.begin())]) {
        any |= found != names.end();
        return name;
      }
      return StringAttr::get(module.getContext(), "");
    });
    if (any)
      main.setArgAttr(i, ir::kSymbols,
                      ArrayAttr::get(module.getContext(), kept));
    else
      main.removeArgAttr(i, ir::kSymbols);
  }
}

/// Checks the symbolic dimensions, gives them sizes, and checks the program.
LogicalResult checkProgram(ModuleOp module, SymbolSizes sizes) {
  unsigned count = ir::symbolCount(module);
  if (count == 0) { // of which what is given for sizes may not fit
    if (failed(stageOf(module)))
      return failure();
    if (!sizes)
      return success();
    func::FuncOp main = mainFunction(module);
    if (auto given = sizes(main); !given)
      return main.emitError(llvm::toString(given.takeError()));
    return success();
  }
  ir::StandIns standIns(count);
  if (failed(ir::bindSymbols(module)))
    return failure();
  if (sizes) {
    func::FuncOp main = mainFunction(module);
    llvm::Expected<SmallVector<int64_t>> given = sizes(main);
    if (!given)
      return main.emitError(llvm::toString(given.takeError()));
    chooseSizes(module, *given);
  }
  if (failed(stageOf(module)))
    return failure();
  ir::writeSymbols(module);
  return success();
}

} // namespace

bool isWithinBounds(StringRef text, StringRef name, std::string &error) {
  return Scanner(text, name, error).run();
}

OwningOpRef<ModuleOp> readProgram(llvm::MemoryBufferRef text,
                                  MLIRContext &context, ReadFailure &failure,
                                  SymbolSizes sizes) {
  if (!isWithinBounds(text.getBuffer(), text.getBufferIdentifier(),
                      failure.text))
    return nullptr;
  context.loadDialect<ir::TesseraDialect, func::FuncDialect>();
  context.allowUnregisteredDialects();
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text), SMLoc());
  SourceDiagnostics handler(context, text, failure.text);
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  auto module = parseSourceFile<ModuleOp>(sources, config);
  context.allowUnregisteredDialects(false);
  if (!module)
    return nullptr;
  failure.isUnsupported = holdsUnknownOps(*module, failure.text);
  if (failure.isUnsupported || failed(checkVersion(*module)) ||
      failed(checkWeightsFile(*module)) || failed(checkProgram(*module, sizes)))
    return nullptr;
  func::FuncOp main = mainFunction(*module);
  if (llvm::Expected<Interface> interface = interfaceOf(main); !interface) {
    main.emitError(llvm::toString(interface.takeError()));
    return nullptr;
  }
  return module;
}

} // namespace tessera::lowering
