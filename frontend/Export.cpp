// Writes a traced function as a program file, with its weights beside it.
#include "frontend/Devices.h"
#include "frontend/ProgramFile.h"

#include "frontend/Recording.h"
#include "frontend/io/Safetensors.h"
#include "lowering/Aot/InsideWeights.h"
#include "lowering/Stage.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"

#include <filesystem>

using namespace mlir;

namespace tessera::detail {

//===-- Names --===//

bool NameTable::take(StringRef name) {
  std::string identifier = name.str();
  std::ranges::replace(identifier, '.', '_');
  return taken.insert(std::move(identifier)).second;
}

std::string NameTable::unique(StringRef name) {
  name =
      name.take_front(lowering::kMostNameBytes - 16); // with room for a number
  std::string result = name.str();
  for (size_t i = 2; !take(result); ++i)
    result = (name + "_" + Twine(i)).str();
  return result;
}

/// A path of a tree as a part of a name.
static std::string sanitised(StringRef text) {
  std::string name = text.str();
  for (char &c : name)
    if (!llvm::isAlnum(c) && c != '_' && c != '.')
      c = '_';
  return name;
}

/// The name of a tensor at a path of the tree `base`: a field is `base.w`, an
/// element `base_0`.
static std::string nameBelow(std::string base, StringRef path) {
  while (!path.empty()) {
    auto [part, rest] = path.split('.');
    bool isField = !part.empty() && !llvm::isDigit(part[0]);
    base += (isField ? "." : "_") + sanitised(part);
    path = rest;
  }
  return base;
}

/// The name of a variable by its path in a module.
static std::string nameOfPath(StringRef path) {
  std::string name = sanitised(path);
  return llvm::isDigit(name[0]) || name[0] == '.' ? "_" + name : name;
}

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// The element that some bytes are.
static TypedAttr elementOf(const void *bytes, Type type) {
  uint64_t bits = 0;
  unsigned width = type.getIntOrFloatBitWidth();
  std::memcpy(&bits, bytes, std::max(1u, width / 8));
  if (auto floating = dyn_cast<FloatType>(type))
    return FloatAttr::get(
        type, APFloat(floating.getFloatSemantics(), APInt(width, bits)));
  return IntegerAttr::get(type, APInt(width, bits, false, true));
}

//===-- Files --===//

namespace {
/// One program on its way to its files.
class ProgramWriter {
public:
  ProgramWriter(const ExportRequest &request, TracedFunction &traced,
                std::source_location place)
      : request(request), traced(traced), place(place), path(request.path),
        main(lowering::mainFunction(*traced.module)),
        builder(traced.context.get()) {}

  void write() {
    if (path.extension() == ".safetensors")
      fail("the file would be that of its own weights: " + request.path);
    for (Input &input : traced.inputs)
      input.bytes = bytesOn(input.bytes, Device(), "export_program", place);
    bakeNumbers();
    checkUpdates();
    nameInputs();
    nameResults();
    (*traced.module)
        ->setAttr(lowering::kVersion,
                  builder.getI64IntegerAttr(lowering::kProgramVersion));
    lowering::markStage(*traced.module, lowering::Stage::trace);
    writeFiles();
  }

private:
  using Input = TracedFunction::Input;

  [[noreturn]] void fail(const std::string &message) {
    throw ValueError(errorPlace(place), "export_program", message);
  }

  /// Makes constants of the numbers among the inputs.
  void bakeNumbers() {
    Block &body = main.getBody().front();
    builder.setInsertionPointToStart(&body);
    BitVector baked(main.getNumArguments());
    for (auto [i, input] : llvm::enumerate(traced.inputs)) {
      if (!input.isNumber)
        continue;
      BlockArgument number = body.getArgument(unsigned(i));
      Location loc = number.getLoc();
      if (isa<UnknownLoc>(loc))
        loc = number.use_empty() ? main.getLoc()
                                 : (*number.user_begin())->getLoc();
      auto type = typeOf(number);
      number.replaceAllUsesWith(ir::ConstantOp::create(
          builder, loc, type,
          elementOf(input.bytes.data(), type.getElementType())));
      baked.set(unsigned(i));
    }
    llvm::erase_if(traced.inputs, [](const Input &in) { return in.isNumber; });
    if (failed(main.eraseArguments(baked)))
      throw InternalError(errorPlace(place), "export_program",
                          "an argument cannot be erased");
  }

  void checkUpdates() {
    for (auto [i, input] : llvm::enumerate(traced.inputs)) {
      if (input.update < 0)
        continue;
      Type before = main.getArgumentTypes()[i];
      Type after =
          main.getResultTypes()[traced.numResults + size_t(input.update)];
      if (before != after)
        fail("the function gives the variable " + nameOfVariable(input) +
             " another type, which a program cannot: " +
             lowering::typeName(cast<RankedTensorType>(before)) + " and " +
             lowering::typeName(cast<RankedTensorType>(after)));
    }
  }

  // Names

  /// The i-th of the names that the user gave, or an empty one.
  StringRef givenName(const std::vector<std::string> &names, size_t i) {
    return i < names.size() ? StringRef(names[i]) : StringRef();
  }

  /// The user's names must be fit to be names, and stand for something.
  void checkNames(const std::vector<std::string> &names, size_t count,
                  const char *what) {
    if (names.size() > count)
      fail("there are names for " + std::to_string(names.size()) + " " + what +
           "s, but the function has " + std::to_string(count));
    NameTable table;
    for (const std::string &name : names) {
      if (name.empty())
        continue;
      if (!lowering::isProgramName(name))
        fail("\"" + name + "\" is no name for " + what + "s: it must be " +
             lowering::kNameRule.str());
      if (!table.take(name))
        fail("two " + std::string(what) + "s are named \"" + name + "\"");
    }
  }

  std::string nameOfVariable(const Input &input) {
    for (auto &[cell, argument, path] : request.variables)
      if (cell == input.cell) {
        StringRef given = givenName(request.options.arguments, argument);
        if (!given.empty())
          return path.empty() ? given.str()
                              : given.str() + "." + sanitised(path);
        return path.empty() ? "x" + std::to_string(argument) : nameOfPath(path);
      }
    std::string name = input.cell->name();
    return name.empty() ? "variable" + std::to_string(numUnnamed++)
                        : nameOfPath(name);
  }

  std::string nameOfInput(size_t i) {
    const Input &input = traced.inputs[i];
    if (input.kind == Source::Variable)
      return nameOfVariable(input);
    if (input.kind == Source::Bound)
      return "captured" + std::to_string(numCaptured++);
    auto &[position, path] = request.arguments[i];
    StringRef given = givenName(request.options.arguments, position);
    return nameBelow(
        given.empty() ? "x" + std::to_string(position) : given.str(), path);
  }

  bool isGiven(size_t i) {
    return traced.inputs[i].kind == Source::Argument &&
           !givenName(request.options.arguments, request.arguments[i].first)
                .empty();
  }

  void nameInputs() {
    checkNames(request.options.arguments, request.numArguments, "argument");
    NameTable table;
    inputNames.resize(traced.inputs.size());
    for (bool given : {true, false}) // what the user named has its name
      for (size_t i = 0; i < traced.inputs.size(); ++i)
        if (isGiven(i) == given)
          inputNames[i] = table.unique(nameOfInput(i));
    for (auto [i, name] : llvm::enumerate(inputNames)) {
      main.setArgAttr(unsigned(i), lowering::kName,
                      builder.getStringAttr(name));
      if (traced.inputs[i].kind != Source::Argument)
        main.setArgAttr(unsigned(i), lowering::kWeight, builder.getUnitAttr());
    }
  }

  /// The position of the result that a tensor belongs to, and its path there.
  std::pair<size_t, StringRef> splitResult(StringRef path) {
    if (!request.resultIsList)
      return {0, path};
    auto [position, rest] = path.split('.');
    size_t number = 0;
    position.getAsInteger(10, number);
    return {number, rest};
  }

  void nameResults() {
    auto &names = request.options.results;
    size_t count = 0;
    for (const std::string &path : request.results)
      count = std::max(count, splitResult(path).first + 1);
    checkNames(names, count, "result");
    NameTable table;
    std::vector<std::string> all(main.getNumResults());
    for (bool given : {true, false})
      for (auto [i, whole] : llvm::enumerate(request.results)) {
        auto [position, path] = splitResult(whole);
        StringRef name = givenName(names, position);
        if (!name.empty() != given)
          continue;
        std::string byDefault =
            request.resultIsList ? "y" + std::to_string(position) : "y";
        all[i] = table.unique(
            nameBelow(name.empty() ? byDefault : name.str(), path));
      }
    for (auto [i, input] : llvm::enumerate(traced.inputs)) {
      if (input.update < 0)
        continue;
      size_t result = traced.numResults + size_t(input.update);
      all[result] = table.unique(inputNames[i]);
      main.setResultAttr(unsigned(result), lowering::kUpdates,
                         builder.getI64IntegerAttr(int64_t(i)));
    }
    for (auto [i, name] : llvm::enumerate(all))
      main.setResultAttr(unsigned(i), lowering::kName,
                         builder.getStringAttr(name));
  }

  // Files

  std::vector<io::RawTensor> weights() {
    std::vector<io::RawTensor> list;
    for (auto [i, input] : llvm::enumerate(traced.inputs)) {
      if (input.kind == Source::Argument)
        continue;
      auto type = typeOf(main.getArgument(unsigned(i)));
      list.push_back(
          {inputNames[i], dtypeFor(type.getElementType()),
           type.getShape().vec(),
           io::Bytes::borrow(input.bytes.data(), input.bytes.bytes())});
    }
    return list;
  }

  void embed(const std::vector<io::RawTensor> &list) {
    std::vector<lowering::InsideWeight> inside;
    size_t next = 0;
    for (auto [i, input] : llvm::enumerate(traced.inputs)) {
      if (input.kind == Source::Argument)
        continue;
      const io::RawTensor &weight = list[next++];
      inside.push_back(
          {weight.name, typeOf(main.getArgument(unsigned(i))),
           StringRef(reinterpret_cast<const char *>(weight.bytes.data.get()),
                     weight.bytes.size)});
    }
    (*traced.module)
        ->setAttr(lowering::kWeightsFile,
                  lowering::insideWeights(traced.context.get(), inside));
  }

  std::string programText() {
    std::string text;
    llvm::raw_string_ostream(text)
        << "// A program of Tessera; docs/file-formats.md describes it.\n";
    llvm::raw_string_ostream out(text);
    traced.module->print(
        out, OpPrintingFlags().enableDebugInfo(true, /*prettyForm=*/false));
    return text;
  }

  void writeFiles() {
    std::filesystem::path weightsPath = path;
    weightsPath.replace_extension(".safetensors");
    std::error_code ignored;
    bool isNew = !std::filesystem::exists(weightsPath, ignored);
    bool hasWritten = false;
    try {
      std::vector<io::RawTensor> list = weights();
      if (!list.empty() && request.options.embed_weights) {
        embed(list);
      } else if (!list.empty()) {
        (*traced.module)
            ->setAttr(lowering::kWeightsFile,
                      builder.getStringAttr(weightsPath.filename().string()));
        io::writeSafetensors(weightsPath, list);
        hasWritten = true;
      }
      std::string text = programText();
      std::span<const std::byte> bytes = io::asBytes(text);
      io::writeFile(path, {&bytes, 1});
    } catch (const io::FileError &error) {
      if (hasWritten && isNew) // weights alone are of no use
        std::filesystem::remove(weightsPath, ignored);
      throw IoError(errorPlace(place), "export_program", error.what());
    }
  }

  const ExportRequest &request;
  TracedFunction &traced;
  std::source_location place;
  std::filesystem::path path;
  func::FuncOp main;
  OpBuilder builder;
  std::vector<std::string> inputNames;
  size_t numUnnamed = 0, numCaptured = 0;
};
} // namespace

void writeProgram(const ExportRequest &request, TracedFunction &traced,
                  std::source_location place) {
  ProgramWriter(request, traced, place).write();
}

} // namespace tessera::detail
