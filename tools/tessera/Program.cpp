// Loads programs, and adds gradients to them.
#include "tools/tessera/Program.h"
#include "dialects/Tessera/IR/Symbols.h"
#include "dialects/Tessera/Transforms/Autodiff.h"
#include "lowering/Aot/InsideWeights.h"
#include "lowering/CodeGen/GpuTarget.h"
#include "lowering/CodeGen/SourceDiagnostics.h"
#include "lowering/ProgramReader.h"
#include "runtime/Environment.h"
#include "runtime/FileUtils.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tessera::lowering;

namespace tessera::tool {

/// Lives as long as the process.
static llvm::MemoryBuffer *theInput = nullptr;

StringRef standardInput() {
  return theInput ? theInput->getBuffer() : StringRef();
}

std::unique_ptr<llvm::MemoryBuffer> readInput(StringRef path) {
  // A folder opens, but does not read.
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/false);
  if (!buffer)
    fail("cannot read " + path + ": " + buffer.getError().message());
  if (path != "-")
    return std::move(*buffer);
  theInput = buffer->release();
  return llvm::MemoryBuffer::getMemBuffer(*theInput);
}

void writeOutput(StringRef path, StringRef bytes) {
  if (path == "-") {
    llvm::outs() << bytes;
    return;
  }
  io::writeFile(path.str(), {{io::asBytes(bytes)}});
}

Program::Program(const Arguments &arguments, Symbols symbols)
    : path(arguments.file()) {
  parse(arguments, symbols);
  if (std::vector<std::string> names = arguments.parts(OPT_grad);
      !names.empty())
    addGradients(names);
}

bool isFusing(const Arguments &arguments) {
  return !arguments.has(OPT_no_fuse) &&
         runtime::readFlag(runtime::Variable::Fuse).value_or(true);
}

TargetInfo targetNamed(StringRef name) {
  llvm::Expected<TargetInfo> target =
      isGpuName(name) ? gpuTargetFor(name) : targetFor(name);
  if (!target)
    failUsage("--target: " + llvm::toString(target.takeError()));
  chooseTF32(*target);
  return *target;
}

void chooseTF32(TargetInfo &target) {
  if (runtime::readFlag(runtime::Variable::Tf32).value_or(false))
    allowTF32(target);
}

std::string dumpFolder(const Arguments &arguments) {
  std::string folder = arguments.text(OPT_dump_to);
  if (folder.empty())
    return runtime::readVariable(runtime::Variable::Dump).value_or("");
  std::error_code error = llvm::sys::fs::create_directories(folder);
  if (!error)
    error = llvm::sys::fs::access(folder, llvm::sys::fs::AccessMode::Write);
  if (error)
    fail("--dump: cannot write to " + folder + ": " + error.message());
  return folder;
}

/// What --from and --no-fuse say must fit the stage of the file.
void Program::checkFlags(const Arguments &arguments) {
  FailureOr<Stage> stage = stageOf(module());
  if (failed(stage))
    fail("internal error: " + path + " was read, and is in no stage",
         kInternalError);
  std::string from = arguments.text(OPT_from);
  if (!from.empty() && nameOf(*stage) != from)
    fail(path + " is in the " + nameOf(*stage) + " stage, and --from says " +
         from);
  if (*stage >= Stage::kernels)
    arguments.refuse({OPT_no_fuse}, "for a program in the " + nameOf(*stage) +
                                        " stage, of which the kernels are "
                                        "formed already");
}

void Program::parse(const Arguments &arguments, Symbols symbols) {
  std::string from = arguments.oneOf(
      OPT_from, {"trace", "tensor", "kernels", "plan", "loops", "llvm", "asm"});
  if (from == "loops" || from == "llvm" || from == "asm")
    failUsage("--from=" + from +
              ": that is code of kernels, which only "
              "tessera compile carries on from");
  std::unique_ptr<llvm::MemoryBuffer> text = readInput(path);
  context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  ReadFailure failure;
  StringRef name = path == "-" ? StringRef("<stdin>") : StringRef(path);
  llvm::MemoryBufferRef named(text->getBuffer(), name);
  auto sizes = [&](func::FuncOp function) {
    return symbolSizes(function, arguments, symbols);
  };
  theModule = readProgram(named, *context, failure, sizes);
  if (!theModule)
    throw Failure{failure.isUnsupported ? kUnsupported : kUserError,
                  failure.text};
  auto read = interfaceOf(main());
  if (!read)
    fail(read.takeError());
  ports = std::move(*read);
  checkFlags(arguments);
}

[[noreturn]] void failCompilation(StringRef error) {
  fail(error.rtrim(), isInternal(error) ? kInternalError : kUserError);
}

void Program::loadWeights(const Arguments &arguments) {
  weightsFile = arguments.text(OPT_weights);
  if (auto name = module()->getAttrOfType<StringAttr>(kWeightsFile);
      weightsFile.empty() && name) {
    SmallString<128> beside(llvm::sys::path::parent_path(path));
    llvm::sys::path::append(beside, name.getValue());
    weightsFile = beside.str().str();
  }
  if (weightsFile.empty() && isInsideWeights(module()->getAttr(kWeightsFile)))
    return loadInsideWeights();
  if (weightsFile.empty())
    return;
  if (llvm::none_of(ports.arguments,
                    [](const Port &p) { return p.isWeight; })) {
    if (arguments.has(OPT_weights))
      fail("--weights: " + path + " has no weights");
    weightsFile.clear();
    return;
  }
  values = io::readSafetensors(weightsFile);
  for (const Port &argument : ports.arguments) {
    if (!argument.isWeight)
      continue;
    const io::RawTensor *value = weight(argument.name);
    if (!value)
      fail(weightsFile + ": there is no '" + argument.name + "', which is " +
           typeName(argument.type) + " in " + path);
    if (io::typeText(value->dtype, value->shape) != typeName(argument.type))
      fail(weightsFile + ": '" + argument.name + "' is " +
           io::typeText(value->dtype, value->shape) + ", but " + path +
           " expects " + typeName(argument.type));
  }
}

void Program::loadInsideWeights() {
  for (const Port &argument : ports.arguments) {
    if (!argument.isWeight)
      continue;
    llvm::Expected<StringRef> bytes = insideWeight(module(), argument);
    if (!bytes)
      fail(path + ": " + llvm::toString(bytes.takeError()));
    auto shape = argument.type.getShape();
    values.tensors.push_back({argument.name,
                              dtypeOf(argument.type.getElementType()),
                              {shape.begin(), shape.end()},
                              io::Bytes::borrow(bytes->data(), bytes->size())});
  }
}

const io::RawTensor *Program::weight(StringRef name) const {
  for (const io::RawTensor &tensor : values.tensors)
    if (name == tensor.name)
      return &tensor;
  return nullptr;
}

/// Appends the cotangents of the arguments to the results, named "grad." and
/// the argument.
void Program::addGradients(ArrayRef<std::string> names) {
  if (FailureOr<Stage> stage = stageOf(module());
      failed(stage) || *stage != Stage::trace)
    fail("--grad needs a program in the trace stage");
  ir::StandIns standIns(ir::symbolCount(module()));
  if (ir::StandIns::count() > 0 && failed(ir::bindSymbols(module())))
    fail("--grad: the program's symbolic dimensions do not fit");
  func::FuncOp function = main();
  auto end = cast<func::ReturnOp>(function.getBody().front().getTerminator());
  if (end.getNumOperands() == 0 || ports.results.front().symbolic ||
      !isa<FloatType>(ports.results.front().type.getElementType()) ||
      ports.results.front().elements() != 1)
    fail("--grad needs a first result of one floating number; here it is " +
         (ports.results.empty() ? "absent"
                                : typeName(ports.results.front().type)));
  SmallVector<Value> inputs;
  for (const std::string &name : names) {
    auto port = llvm::find_if(ports.arguments, [&](const Port &argument) {
      return argument.name == name;
    });
    SmallVector<StringRef> known;
    for (const Port &argument : ports.arguments)
      known.push_back(argument.name);
    if (port == ports.arguments.end())
      fail("--grad: there is no argument '" + name + "'" +
           suggestion(name, known));
    if (!isa<FloatType>(port->type.getElementType()))
      fail("--grad: '" + name + "' is " + typeName(port->type) +
           ", and has no gradient");
    inputs.push_back(
        function.getArgument(unsigned(port - ports.arguments.begin())));
  }
  OpBuilder builder(end);
  Value loss = end.getOperand(0);
  auto type = cast<RankedTensorType>(loss.getType());
  Value one =
      ir::ConstantOp::create(builder, loss.getLoc(), type,
                             builder.getFloatAttr(type.getElementType(), 1.0));
  SmallVector<Value> gradients = ir::buildVjp(builder, loss, inputs, one);
  SmallVector<Value> results(end.getOperands());
  SmallVector<Type> types(function.getResultTypes());
  SmallVector<DictionaryAttr> attributes;
  function.getAllResultAttrs(attributes);
  for (auto [name, input, gradient] : llvm::zip(names, inputs, gradients)) {
    auto inputType = cast<RankedTensorType>(input.getType());
    if (!gradient)
      gradient = ir::ConstantOp::create(
          builder, loss.getLoc(), inputType,
          builder.getFloatAttr(inputType.getElementType(), 0.0));
    results.push_back(gradient);
    types.push_back(inputType);
    attributes.push_back(builder.getDictionaryAttr(
        builder.getNamedAttr(kName, builder.getStringAttr("grad." + name))));
  }
  end->setOperands(results);
  function.setType(builder.getFunctionType(function.getArgumentTypes(), types));
  function.setAllResultAttrs(attributes);
  std::string text;
  SourceDiagnostics handler(*context, {}, text);
  if (failed(stageOf(module())))
    fail("internal error: --grad makes no program: " + text, kInternalError);
  ir::writeSymbols(module());
  auto read = interfaceOf(function);
  if (!read)
    fail("--grad: " + llvm::toString(read.takeError()));
  ports = std::move(*read);
}

} // namespace tessera::tool
