// Reads program files, and calls the programs in them.
#include "dialects/Tessera/IR/Symbols.h"
#include "frontend/Devices.h"
#include "frontend/Evaluate.h"
#include "frontend/Program.h"
#include "frontend/ProgramFile.h"
#include "frontend/Recording.h"
#include "frontend/io/RawTensor.h"
#include "lowering/Aot/InsideWeights.h"
#include "lowering/Plan/InPlace.h"
#include "lowering/ProgramReader.h"
#include "lowering/Reference/Interpreter.h"
#include "runtime/Allocator.h"
#include "runtime/FileUtils.h"
#include "tessera/Save.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <filesystem>
#include <system_error>

using namespace mlir;

namespace tessera {
using namespace detail;

/// Runs `work`; what does not fit in memory is an OutOfMemory at the place.
template <typename Work>
static auto guarded(const char *name, std::source_location place, Work work) {
  try {
    return work();
  } catch (const std::length_error &) {
    throw OutOfMemory(errorPlace(place), name,
                      "a tensor of the program has more bytes than there are "
                      "addresses");
  } catch (...) {
    rethrowDeviceError(name, place);
  }
}

static std::string typeText(const Program::Value &value) {
  std::string text = typeText(value.dtype, value.shape);
  if (size_t symbol = text.find("-1"); symbol != std::string::npos)
    text.replace(symbol, 2, "?");
  return text;
}

namespace {
/// A module with the context that it lives in.
struct ParsedProgram {
  /// Whether the text is a program; `failure` says why not.
  bool parse(const std::string &text, const std::string &path,
             lowering::SymbolSizes sizes = nullptr) {
    module = lowering::readProgram(llvm::MemoryBufferRef(text, path), context,
                                   failure, sizes);
    return bool(module);
  }
  func::FuncOp main() { return lowering::mainFunction(*module); }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  lowering::ReadFailure failure;
};
} // namespace

//===-- The program --===//

struct Program::State {
  std::string path, text;
  std::vector<Value> arguments, results; ///< those of a call
  std::vector<Value> variables;          ///< the types of `program.cells`
  CompiledProgram program;
  std::vector<uint32_t> donated; ///< positions of arguments

  bool isInterpreted(const std::vector<Tensor> &given) const {
    return detail::isInterpreted(default_device()) ||
           llvm::any_of(given, [](const Tensor &tensor) {
             return detail::isInterpreted(tensor.device());
           });
  }

  void compile(ModuleOp module, std::source_location place);
  std::vector<Tensor> run(const std::vector<Tensor> &given,
                          std::source_location place);

private:
  std::vector<Tensor> interpret(const std::vector<Tensor> &given,
                                std::source_location place);
  /// The program for arguments of these shapes; `mutex` is held.
  ParsedProgram &parsedFor(const std::vector<Tensor> &given,
                           std::source_location place);
  /// The symbolic dimensions that the arguments' shapes tell.
  void bindDims(const std::vector<Tensor> &given, int64_t *dims,
                std::source_location place) const;

  std::mutex mutex; ///< of what is made when it is first needed
  std::unique_ptr<ParsedProgram> parsed;
  std::vector<Shape> parsedShapes; ///< that `parsed` is for, if it is symbolic
};

/// Compiles it, unless that has been done. The module is used up.
void Program::State::compile(ModuleOp module, std::source_location place) {
  std::string error;
  program.device = default_device();
  auto executable =
      compileOn(module, programOptions(program.device, place), error, place);
  if (failed(executable) && program.symbolic)
    throw TraceError(errorPlace(place), "load_program", path + ": " + error);
  if (failed(executable))
    throw InternalError(errorPlace(place), "load_program", path + ": " + error);
  program.executable = *executable;
}

void Program::State::bindDims(const std::vector<Tensor> &given, int64_t *dims,
                              std::source_location place) const {
  std::vector<std::span<const int64_t>> shapes;
  for (const Source &source : program.sources)
    shapes.push_back(source.kind == Source::Argument
                         ? given[source.index].shape()
                         : program.cellTypes[source.index].shape);
  try {
    program.executable->bindDims(shapes, dims);
  } catch (const std::invalid_argument &error) {
    throw ShapeError(errorPlace(place), "program", path + ": " + error.what());
  }
}

std::vector<Tensor> Program::State::run(const std::vector<Tensor> &given,
                                        std::source_location place) {
  if (isInterpreted(given))
    return interpret(given, place);
  {
    std::lock_guard guard(mutex);
    if (!program.executable) {
      ParsedProgram fresh;
      fresh.parse(text, path);
      compile(*fresh.module, place);
    }
  }
  JitCall call;
  for (const Tensor &tensor : given)
    call.tensors.push_back(&tensor);
  for (uint32_t position : donated)
    call.donated.push_back(position);
  int64_t dims[ir::kMaxSymbols];
  if (program.symbolic) {
    bindDims(given, dims, place);
    call.dims = dims;
  }
  std::vector<Tensor> values(results.size());
  program.run(call, values, 0, place);
  return values;
}

static lowering::TensorBytes bytesOf(const Tensor &tensor,
                                     std::source_location place) {
  runtime::Storage storage =
      bytesOn(storageOf(tensor, "program", place), Device(), "program", place);
  auto *data = static_cast<const uint8_t *>(storage.data());
  return {data, data + storage.bytes()};
}

ParsedProgram &Program::State::parsedFor(const std::vector<Tensor> &given,
                                         std::source_location place) {
  std::vector<Shape> shapes;
  if (program.symbolic)
    for (const Tensor &tensor : given)
      shapes.push_back(tensor.shape());
  if (parsed && parsedShapes == shapes)
    return *parsed;
  auto sizes = [&](func::FuncOp main) -> llvm::Expected<SmallVector<int64_t>> {
    auto interface = lowering::interfaceOf(main);
    if (!interface)
      return interface.takeError();
    SmallVector<int64_t> values(interface->symbols.size(), -1);
    for (auto [source, port] : llvm::zip(program.sources, interface->arguments))
      if (const auto &dim = port.symbolic) {
        int64_t size = shapes[source.index][size_t(dim->dim)] - dim->constant;
        int64_t &value = values[size_t(dim->symbol)];
        if (size < 0 || size % dim->coefficient != 0 ||
            (value >= 0 && value != size / dim->coefficient))
          return llvm::createStringError(
              "the argument " + port.name + " is of a size that does not fit " +
              lowering::sizeName(*dim, interface->symbols[dim->symbol]));
        value = size / dim->coefficient;
      }
    return values;
  };
  auto fresh = std::make_unique<ParsedProgram>();
  if (!fresh->parse(text, path, sizes))
    throw ShapeError(errorPlace(place), "program",
                     StringRef(fresh->failure.text).rtrim().str());
  parsed = std::move(fresh);
  parsedShapes = std::move(shapes);
  return *parsed;
}

std::vector<Tensor> Program::State::interpret(const std::vector<Tensor> &given,
                                              std::source_location place) {
  std::lock_guard guard(mutex);
  ParsedProgram &read = parsedFor(given, place);
  std::vector<lowering::TensorBytes> inputs;
  for (const Source &source : program.sources)
    inputs.push_back(bytesOf(source.kind == Source::Argument
                                 ? given[source.index]
                                 : program.cells[source.index]->load(),
                             place));
  auto outputs = lowering::interpret(read.main(), inputs);
  if (failed(outputs))
    throw InternalError(errorPlace(place), "program",
                        path + ": the interpreter cannot compute it");
  std::vector<Tensor> values;
  for (auto [bytes, type, mlirType] :
       llvm::zip(*outputs, program.outputs, read.main().getResultTypes())) {
    auto storage = runtime::Storage::allocate(bytes.size());
    std::ranges::copy(bytes, static_cast<uint8_t *>(storage.data()));
    auto shape = cast<RankedTensorType>(mlirType).getShape();
    values.push_back(makeTensor(std::move(storage),
                                Shape(shape.begin(), shape.end()), type.dtype,
                                default_device()));
  }
  for (auto [i, cell] : llvm::enumerate(program.written))
    cell->store(values[results.size() + i]);
  values.resize(results.size());
  return values;
}

//===-- Loading --===//

namespace {
/// Makes a program of a file.
class Loader {
public:
  Loader(const std::string &path, std::source_location place)
      : place(place), state(std::make_shared<Program::State>()) {
    state->path = path;
    state->program.name = "program";
    state->program.made = place;
  }

  std::shared_ptr<Program::State> load() {
    readFile();
    readInterface();
    readWeights();
    if (!state->isInterpreted({}))
      state->compile(*parsed.module, place);
    return state;
  }

private:
  [[noreturn]] void fail(const std::string &message) {
    throw IoError(errorPlace(place), "load_program",
                  state->path + ": " + message);
  }

  void readFile() {
    try {
      state->text = runtime::readFile(state->path, lowering::kMostProgramBytes);
    } catch (const std::system_error &error) {
      throw IoError(errorPlace(place), "load_program", error.what());
    }
    if (!parsed.parse(state->text, state->path))
      throw IoError(errorPlace(place), "load_program",
                    StringRef(parsed.failure.text).rtrim().str());
  }

  Program::Value valueOf(const lowering::Port &port) {
    state->program.symbolic |= port.symbolic.has_value();
    Shape shape;
    for (int64_t size : port.type.getShape())
      shape.push_back(ShapedType::isDynamic(size) ? -1 : size);
    return {port.name, dtypeFor(port.type.getElementType()), shape};
  }

  void readInterface() {
    auto interface = llvm::cantFail(lowering::interfaceOf(parsed.main()));
    for (auto [i, port] : llvm::enumerate(interface.arguments))
      addArgument(
          port, bool(parsed.main().getArgAttr(unsigned(i), lowering::kDonate)));
    for (const lowering::Port &port : interface.results)
      addResult(port);
    state->program.numResults = state->results.size();
    if (interface.results.empty())
      fail("the program has no results");
  }

  void addArgument(const lowering::Port &port, bool isDonated) {
    CompiledProgram &program = state->program;
    Program::Value value = valueOf(port);
    if (port.isWeight) {
      program.sources.push_back({Source::Variable, program.cells.size(), {}});
      program.cells.push_back(std::make_shared<Cell>());
      program.cellTypes.push_back({value.shape, value.dtype});
      state->variables.push_back(std::move(value));
      return;
    }
    if (isDonated)
      state->donated.push_back(uint32_t(state->arguments.size()));
    program.sources.push_back({Source::Argument, state->arguments.size(), {}});
    state->arguments.push_back(std::move(value));
  }

  void addResult(const lowering::Port &port) {
    CompiledProgram &program = state->program;
    Program::Value value = valueOf(port);
    program.outputs.push_back({value.shape, value.dtype});
    if (port.partner < 0) {
      if (!program.written.empty())
        fail("the result " + value.name +
             " comes after one that updates an argument");
      state->results.push_back(std::move(value));
      return;
    }
    auto input = size_t(port.partner);
    if (program.sources[input].kind != Source::Variable)
      fail("the result " + value.name +
           " updates an argument that is no weight, so that it has no value "
           "at first");
    program.written.push_back(program.cells[program.sources[input].index]);
    program.lend(input, program.written.size() - 1);
  }

  void readWeights() {
    if (state->variables.empty())
      return;
    Attribute weights = (*parsed.module)->getAttr(lowering::kWeightsFile);
    if (lowering::isInsideWeights(weights))
      return readInsideWeights();
    auto name = dyn_cast_or_null<StringAttr>(weights);
    if (!name)
      fail("the program has weights, but " + lowering::kWeightsFile.str() +
           " does not name a file");
    std::string path =
        (std::filesystem::path(state->path).parent_path() / name.str())
            .string();
    nn::TensorMap map = io::load(path, place);
    for (auto [i, variable] : llvm::enumerate(state->variables)) {
      auto found = map.find(variable.name);
      if (found == map.end())
        throw IoError(errorPlace(place), "load_program",
                      path + ": there is no tensor " + variable.name + ", a " +
                          typeText(variable) + " of " + state->path);
      const Tensor &tensor = found->second;
      if (tensor.dtype() != variable.dtype || tensor.shape() != variable.shape)
        throw IoError(errorPlace(place), "load_program",
                      path + ": the tensor " + variable.name +
                          " is not of the type that it has in " + state->path +
                          ": " + detail::typeText(tensor) + " and " +
                          typeText(variable));
      state->program.cells[i]->store(tensor.to(default_device(), place));
    }
  }

  void readInsideWeights() {
    size_t next = 0;
    auto interface = llvm::cantFail(lowering::interfaceOf(parsed.main()));
    for (const lowering::Port &port : interface.arguments) {
      if (!port.isWeight)
        continue;
      auto bytes = lowering::insideWeight(*parsed.module, port);
      if (!bytes)
        fail(llvm::toString(bytes.takeError()));
      const Program::Value &variable = state->variables[next];
      io::RawTensor raw{
          variable.name, variable.dtype,
          std::vector<int64_t>(variable.shape.begin(), variable.shape.end()),
          io::Bytes::allocate(bytes->size())};
      std::ranges::copy(*bytes, reinterpret_cast<char *>(raw.bytes.data.get()));
      raw.normaliseBooleans();
      auto storage = runtime::Storage::allocate(raw.bytes.size);
      std::copy_n(raw.bytes.data.get(), raw.bytes.size,
                  static_cast<std::byte *>(storage.data()));
      state->program.cells[next++]->store(makeTensor(std::move(storage),
                                                     variable.shape,
                                                     variable.dtype, Device())
                                              .to(default_device(), place));
    }
    // The state has them now; what is compiled is smaller without.
    (*parsed.module)->removeAttr(lowering::kWeightsFile);
  }

  std::source_location place;
  ParsedProgram parsed;
  std::shared_ptr<Program::State> state;
};
} // namespace

Program load_program(const std::string &path, std::source_location place) {
  return Program(guarded("load_program", place,
                         [&] { return Loader(path, place).load(); }));
}

//===-- Calls --===//

const std::vector<Program::Value> &Program::arguments() const {
  return theState->arguments;
}
const std::vector<Program::Value> &Program::results() const {
  return theState->results;
}

template <typename Error>
[[noreturn]] static void fail(const std::string &message,
                              std::source_location place) {
  throw Error(errorPlace(place), "program", message);
}

/// Throws unless a tensor is of the type that a program has for it.
static void checkType(const Tensor &tensor, const Program::Value &expected,
                      const std::string &what, std::source_location place) {
  auto text = [&] {
    return what + " " + expected.name +
           " is of another type: " + typeText(tensor) + " is given for " +
           typeText(expected);
  };
  if (!tensor.defined())
    fail<ValueError>(what + " " + expected.name + " is empty; it is a " +
                         typeText(expected),
                     place);
  auto fits = [](int64_t size, int64_t wanted) {
    return wanted < 0 || size == wanted;
  };
  if (!std::ranges::equal(tensor.shape(), expected.shape, fits))
    fail<ShapeError>(text(), place);
  if (tensor.dtype() != expected.dtype)
    fail<TypeError>(text(), place);
}

/// An argument as a tensor of its type; a number takes the dtype.
static Tensor argumentOf(const Operand &given, const Program::Value &expected,
                         std::source_location place) {
  if (!given.isScalar()) {
    checkType(given.tensor(), expected, "the argument", place);
    return given.tensor();
  }
  const Scalar &number = given.scalar();
  auto bits = bitsOf(number, expected.dtype);
  bool fits = bits && (number.kind != runtime::DTypeKind::Float ||
                       runtime::isFloat(expected.dtype));
  if (expected.shape.size() != 0 || !fits)
    fail<TypeError>("the argument " + expected.name + " is a " +
                        typeText(expected) + ", which the number " +
                        typeText(given) + " cannot be",
                    place);
  auto storage = runtime::Storage::allocate(runtime::bytesOf(expected.dtype));
  std::memcpy(storage.data(), &*bits, storage.bytes());
  return makeTensor(std::move(storage), {}, expected.dtype, default_device());
}

ProgramResults Program::run(const std::vector<Operand> &given,
                            std::source_location place) const {
  if (given.size() != arguments().size()) {
    std::string names;
    for (const Value &argument : arguments())
      names += (names.empty() ? ": " : ", ") + argument.name + " " +
               typeText(argument);
    fail<ValueError>(
        theState->path + " takes " + std::to_string(arguments().size()) +
            " arguments and is given " + std::to_string(given.size()) + names,
        place);
  }
  if (!Trace::current().frames.empty())
    fail<TraceError>("a loaded program cannot be called inside a transform, "
                     "which would have to look into it",
                     place);
  std::vector<Tensor> tensors;
  for (auto [operand, argument] : llvm::zip(given, arguments())) {
    tensors.push_back(argumentOf(operand, argument, place));
    if (tensors.back().requires_grad())
      fail<TraceError>("the argument " + argument.name +
                           " requires a gradient, which a loaded program has "
                           "not; give it detach(" +
                           argument.name + ")",
                       place);
  }
  return {
      guarded("program", place, [&] { return theState->run(tensors, place); }),
      place};
}

ProgramResults::operator Tensor() const {
  if (size() != 1)
    fail<ValueError>("the program has " + std::to_string(size()) +
                         " results, and is used as if it had one",
                     place);
  return front();
}

//===-- State --===//

nn::TensorMap Program::state() const {
  nn::TensorMap map;
  for (auto [variable, cell] :
       llvm::zip(theState->variables, theState->program.cells))
    map[variable.name] = cell->load();
  return map;
}

void Program::load_state(const nn::TensorMap &values, bool strict,
                         std::source_location place) {
  auto fail = [&](const std::string &message) {
    throw ValueError(errorPlace(place), "load_state", message);
  };
  std::vector<std::pair<Cell *, Tensor>> changes;
  for (auto [variable, cell] :
       llvm::zip(theState->variables, theState->program.cells)) {
    auto found = values.find(variable.name);
    if (found != values.end()) {
      checkType(found->second, variable, "the variable", place);
      changes.push_back({cell.get(), stripHistory(found->second)
                                         .to(theState->program.device, place)
                                         .eval(place)});
    } else if (strict) {
      fail("there is no value for the variable \"" + variable.name + "\"");
    }
  }
  if (strict && changes.size() != values.size())
    for (auto &[name, value] : values)
      if (llvm::none_of(theState->variables,
                        [&](const Value &v) { return v.name == name; }))
        fail("the program has no variable \"" + name + "\"");
  for (auto &[cell, value] : changes)
    cell->store(value);
}

} // namespace tessera
