// tessera compile: from any stage to any other, and to what a linker takes.
#include "lowering/Aot/Header.h"
#include "lowering/CodeGen/Assemble.h"
#include "lowering/CodeGen/CompileKernels.h"
#include "lowering/CodeGen/GpuTarget.h"
#include "lowering/Compiler.h"
#include "lowering/Dump.h"
#include "lowering/GPU/Cubin.h"
#include "lowering/ProgramReader.h"
#include "tools/tessera/Link.h"
#include "tools/tessera/Program.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace llvm;
using namespace tessera::lowering;

namespace tessera::tool {

static constexpr StringRef kStages[] = {"trace", "tensor", "kernels", "plan",
                                        "loops", "llvm",   "asm"};
static constexpr StringRef kKinds[] = {
    "trace", "tensor", "kernels", "plan", "loops",  "llvm", "asm",
    "obj",   "lib",    "so",      "exe",  "header", "ptx",  "cubin"};
// What there is for a GPU.
static constexpr StringRef kGpuKinds[] = {"trace", "tensor", "kernels", "plan",
                                          "loops", "ptx",    "cubin"};

namespace {
/// One run of the command.
class Compile {
public:
  explicit Compile(const Arguments &arguments)
      : arguments(arguments), output(arguments.text(OPT_o)),
        from(arguments.oneOf(OPT_from, kStages)), kind(chooseKind()) {
    options.name = chooseName();
    options.targets = chooseTargets();
    checkFlags();
    options.threads = int(arguments.integer(OPT_threads, 1, 1024, 0));
    options.fuse = isFusing(arguments);
    options.debugInfo = !arguments.has(OPT_no_lines);
    options.embedWeights = !arguments.has(OPT_pass_weights);
    options.timing = [this](StringRef step, double ms) {
      steps.push_back({step.str(), ms});
    };
  }

  void run() {
    Clock::time_point start = Clock::now();
    if (isFromText())
      compileText();
    else
      compileProgram();
    noteStep("together", start);
    reportTimes();
  }

private:
  using Clock = std::chrono::steady_clock;

  void noteStep(const char *step, Clock::time_point start) {
    std::chrono::duration<double, std::milli> time = Clock::now() - start;
    steps.push_back({step, time.count()});
  }

  std::string chooseKind() {
    std::string given = arguments.oneOf(OPT_emit, kKinds);
    if (!given.empty())
      return given;
    StringRef extension = sys::path::extension(output);
    return StringSwitch<std::string>(extension)
        .Case(".mlir", "plan")
        .Case(".ll", "llvm")
        .Case(".s", "asm")
        .Case(".a", "lib")
        .Case(".so", "so")
        .Case(".h", "header")
        .Case(".o", "obj")
        .Case(".ptx", "ptx")
        .Case(".cubin", "cubin")
        .Default(isForGpu() ? "ptx" : "obj");
  }

  /// One of the targets is a GPU.
  bool isForGpu() const {
    return any_of(arguments.parts(OPT_target),
                  [](StringRef name) { return isGpuName(name); });
  }
  bool isGpuCode() const { return kind == "ptx" || kind == "cubin"; }

  /// Code of kernels, and not a program.
  bool isFromText() const {
    return is_contained({"loops", "llvm", "asm"}, from);
  }
  /// Text of a stage above LLVM's.
  bool isToStage() const { return is_contained(ArrayRef(kStages, 5), kind); }

  /// Each flag that is given has a meaning.
  void checkFlags() {
    std::string withKind = "with --emit=" + kind;
    if (isToStage())
      arguments.refuse({OPT_name, OPT_header_file, OPT_weights,
                        OPT_pass_weights, OPT_no_lines, OPT_size_report},
                       withKind);
    if (isFromText())
      arguments.refuse({OPT_name, OPT_header_file, OPT_weights,
                        OPT_pass_weights, OPT_grad, OPT_shape, OPT_no_fuse,
                        OPT_no_lines, OPT_threads, OPT_dump_to},
                       "with --from=" + from);
    if (kind == "header")
      arguments.refuse({OPT_header_file, OPT_no_lines, OPT_size_report},
                       withKind);
    if (kind == "llvm" || kind == "asm")
      arguments.refuse({OPT_size_report}, withKind);
    arguments.oneOf(OPT_time_report_as, {"json"});
    bool isForGpu = options.targets.front().isDevice();
    if (options.targets.size() > 1 && (isToStage() || isFromText() || isForGpu))
      failUsage((isForGpu      ? "code for a GPU"
                 : isToStage() ? "--emit=" + kind
                               : "--from=" + from) +
                " takes one --target");
    checkGpuFlags(isForGpu);
    if (std::string header = headerPath(); !header.empty() && header == output)
      failUsage("both the code and its C header would be " + header);
  }

  void checkGpuFlags(bool isForGpu) {
    if (isGpuCode() && !isForGpu)
      failUsage("--emit=" + kind + " needs a GPU as --target, such as sm_80");
    if (!isForGpu)
      return;
    std::string arch = "with --target=" + options.targets.front().cpu;
    if (isFromText())
      failUsage("--from=" + from + " has no meaning " + arch);
    if (!is_contained(kGpuKinds, kind))
      failUsage("for a GPU there is --emit=" + join(ArrayRef(kGpuKinds), ", ") +
                ", and not " + kind);
    arguments.refuse({OPT_name, OPT_header_file, OPT_weights, OPT_pass_weights,
                      OPT_no_lines, OPT_size_report},
                     arch);
  }

  /// The C name: what --name says, else the output's or the program's file.
  std::string chooseName() {
    std::string given = arguments.text(OPT_name);
    std::string file =
        output.empty() || output == "-" ? arguments.file() : output;
    StringRef stem = sys::path::stem(file);
    if (kind == "lib" || kind == "so")
      stem.consume_front("lib");
    std::string name = given.empty() ? stem.str() : given;
    for (char &c : name)
      if (!isAlnum(c))
        c = given.empty() ? '_' : c;
    bool isIdentifier =
        !name.empty() && !isDigit(name.front()) &&
        all_of(name, [](char c) { return isAlnum(c) || c == '_'; });
    if (given.empty() && !isIdentifier)
      return "program";
    if (!isIdentifier || name.size() > 200)
      failUsage("--name is '" + name + "', and not a C identifier");
    return name;
  }

  std::vector<TargetInfo> chooseTargets() {
    std::vector<TargetInfo> targets;
    std::vector<std::string> names = arguments.parts(OPT_target);
    if (names.empty()) { // what TESSERA_CPU asks for, or this machine's CPU
      Expected<TargetInfo> host = hostTargetOrError();
      if (!host)
        fail(host.takeError());
      targets.push_back(std::move(*host));
    }
    for (const std::string &name : names)
      targets.push_back(targetNamed(name));
    for (const TargetInfo &target : targets)
      if (target.triple != targets.front().triple)
        failUsage("--target: one object is for one architecture, and not for " +
                  targets.front().triple + " and " + target.triple);
    // A call takes the first that fits: the widest come first.
    llvm::sort(targets, [](const TargetInfo &a, const TargetInfo &b) {
      auto rank = [](const TargetInfo &t) {
        return std::tuple(t.vectorBits, t.hasFMA, t.hasRounding,
                          StringRef(t.features).count('+'));
      };
      return rank(a) > rank(b);
    });
    return targets;
  }

  std::string outputOr(StringRef extension) {
    if (!output.empty())
      return output;
    std::string file = arguments.file();
    StringRef stem = sys::path::stem(file);
    return stem == "-" ? "-" : (stem + extension).str();
  }

  //===-- From a program --===//

  void compileProgram() {
    Program program(arguments, Symbols::mayStay);
    dump(program);
    options.source = program.path == "-"
                         ? "standard input"
                         : sys::path::filename(program.path).str();
    if (isToStage())
      return emitStage(program, *stageNamed(kind));
    if (isGpuCode())
      return emitGpuCode(program);
    program.loadWeights(arguments);
    describeWeights(program);
    Expected<AotProgram> compiled = compileAhead(program.module(), options);
    if (!compiled)
      failCompilation(toString(compiled.takeError()));
    emit(*compiled);
  }

  /// trace to loops: texts.
  void emitStage(Program &program, Stage wanted) {
    std::vector<std::pair<int, std::string>> kernels; // with their numbers
    std::string text, error;
    ProgramOptions lower = lowering();
    lower.observe = [&](Stage stage, StringRef kernel, StringRef stageText) {
      if (stage != wanted)
        return;
      if (kernel.empty())
        return void(text = stageText);
      int number = 0;
      kernel.rsplit('_').second.getAsInteger(10, number);
      kernels.push_back(
          {number, ("// kernel " + kernel + "\n" + stageText).str()});
    };
    if (failed(lowerTo(program.module(), wanted, lower, error)))
      failCompilation(error);
    llvm::sort(kernels);
    for (auto &[number, kernel] : kernels)
      text += (text.empty() ? "" : kBetweenKernels.str()) + kernel;
    if (text.empty())
      fail(program.path + " is past the " + nameOf(wanted) + " stage already");
    writeOutput(output.empty() ? "-" : output, text);
  }

  /// The PTX of all kernels, or one cubin of it.
  void emitGpuCode(Program &program) {
    std::string error;
    Clock::time_point start = Clock::now();
    auto ptx = compileToPTX(program.module(), lowering(), error);
    if (failed(ptx))
      failCompilation(error);
    noteStep("ptx", start);
    if (kind == "ptx")
      return writeOutput(outputOr(".ptx"), *ptx);
    start = Clock::now();
    Expected<std::string> cubin = linkCubin(*ptx, options.targets.front());
    if (!cubin)
      fail(cubin.takeError());
    noteStep("cubin", start);
    writeOutput(outputOr(".cubin"), *cubin);
  }

  ProgramOptions lowering() {
    ProgramOptions lower;
    lower.fuse = options.fuse;
    lower.threads = options.threads;
    lower.target = options.targets.front();
    return lower;
  }

  /// Every stage, down to the assembly, for the first target.
  void dump(Program &program) {
    std::string folder = dumpFolder(arguments);
    if (folder.empty())
      return;
    mlir::OwningOpRef<mlir::ModuleOp> copy(program.module().clone());
    Dump files(folder, copy->getLoc());
    ProgramOptions lower = lowering();
    lower.observe = [&](Stage stage, StringRef kernel, StringRef text) {
      files.write(stage, kernel, text);
    };
    std::string error;
    if (failed(lowerTo(*copy, Stage::code, lower, error)))
      failCompilation(error);
  }

  void describeWeights(Program &program) {
    int64_t offset = 0;
    if (!program.weightsPath().empty()) {
      int64_t dataBytes = 0;
      for (const io::RawTensor &tensor : program.weights().tensors)
        dataBytes += int64_t(tensor.bytes.size);
      options.weightsFileBytes =
          int64_t(io::openFile(program.weightsPath())->size());
      // Tensors fill the end of the file, in order and without gaps.
      offset = options.weightsFileBytes - dataBytes;
    }
    for (const io::RawTensor &tensor : program.weights().tensors) {
      options.weights[tensor.name] = {
          StringRef(reinterpret_cast<const char *>(tensor.bytes.data.get()),
                    tensor.bytes.size),
          offset};
      offset += int64_t(tensor.bytes.size);
    }
  }

  void emit(AotProgram &program) {
    std::string header = headerOf(program, options);
    if (kind == "header")
      return writeOutput(outputOr(".h"), header);
    std::string path = outputOr(extension());
    bool isNew = path != "-" && !sys::fs::exists(path);
    writeCode(path, std::move(program.code), program.machine);
    try {
      if (std::string beside = headerPath(); !beside.empty())
        writeOutput(beside, header);
    } catch (...) { // one without the other is of no use
      if (isNew)
        sys::fs::remove(path);
      throw;
    }
  }

  StringRef extension() const {
    return StringSwitch<StringRef>(kind)
        .Case("llvm", ".ll")
        .Case("asm", ".s")
        .Case("lib", ".a")
        .Case("so", ".so")
        .Case("exe", "")
        .Default(".o");
  }

  /// From LLVM IR to llvm, asm, or what holds an object.
  void writeCode(StringRef path, IRModule code, const TargetInfo &target) {
    if (kind == "llvm")
      return writeOutput(path, printIR(code));
    Clock::time_point start = Clock::now();
    Expected<std::string> bytes = kind == "asm"
                                      ? emitAssembly(code, target)
                                      : emitObject(std::move(code), target);
    if (!bytes)
      fail(bytes.takeError());
    noteStep("code", start);
    if (kind == "asm")
      return writeOutput(path, *bytes);
    noteSizes(*bytes);
    writeBinary(path, *bytes);
  }

  void noteSizes(StringRef object) {
    if (!arguments.has(OPT_size_report))
      return;
    Expected<std::string> report = sizeReport(object);
    if (!report)
      fail(report.takeError());
    reports += *report;
  }

  void writeBinary(StringRef path, StringRef object) {
    if (kind == "obj")
      return writeOutput(path, object);
    if (kind == "lib") {
      Expected<std::string> archive =
          archiveOf({{options.name + ".o", object.str()}});
      if (!archive)
        fail(archive.takeError());
      return writeOutput(path, *archive);
    }
    if (path == "-")
      failUsage("an executable or a library cannot be linked to the standard "
                "output");
    linkFile(path, object, kind == "so", options.name);
  }

  /// Where the header goes; empty for nowhere. Beside a device there is none.
  std::string headerPath() const {
    if (std::string path = arguments.text(OPT_header_file); !path.empty())
      return path;
    bool isObject = kind == "obj" || kind == "lib" || kind == "so";
    bool isFile = !sys::fs::exists(output) || sys::fs::is_regular_file(output);
    if (!isObject || isFromText() || output.empty() || output == "-" || !isFile)
      return "";
    SmallString<128> beside(sys::path::parent_path(output));
    sys::path::append(beside, options.name + ".h");
    return beside.str().str();
  }

  //===-- From the text of kernels --===//

  static constexpr StringLiteral kBetweenKernels = "// -----\n";

  /// loops, llvm and asm: the functions that the text holds.
  void compileText() {
    static constexpr StringRef kKinds[] = {"llvm", "asm", "obj", "lib", "so"};
    auto kinds = ArrayRef(kKinds).drop_front(from == "asm" ? 2 : 0);
    if (!is_contained(kinds, kind))
      failUsage("from the " + from + " stage there is " + join(kinds, ", ") +
                ", and not " + kind);
    std::unique_ptr<MemoryBuffer> buffer = readInput(arguments.file());
    StringRef text = buffer->getBuffer();
    std::string name = arguments.file() == "-" ? "<stdin>" : arguments.file();
    std::string error, path = outputOr(extension());
    if (from != "asm" && text.contains('\0'))
      fail(name + ": a zero byte: this is no text");
    const TargetInfo &target = options.targets.front();
    if (from == "asm") {
      std::string object = checked(assemble({text, name}, target));
      noteSizes(object);
      return writeBinary(path, object);
    }
    if (from == "llvm") {
      IRModule ir = checked(readKernel({text, name}, Stage::llvm, target));
      checkCalls(*ir.module, name);
      return writeCode(path, std::move(ir), target);
    }
    if (!isWithinBounds(text, name, error))
      throw Failure{kUserError, error};
    if (text.contains(kBetweenKernels))
      return compileKernels(path, text, name);
    IRModule ir = checked(readKernel({text, name}, Stage::loops, target));
    writeCode(path, std::move(ir), target);
  }

  /// Kernels one after the other, as --emit=loops writes them.
  void compileKernels(StringRef path, StringRef text, StringRef name) {
    SmallVector<StringRef> kernels;
    text.split(kernels, kBetweenKernels);
    if (kind != "lib")
      fail(name + " holds " + Twine(kernels.size()) +
           " kernels: they become an archive (--emit=lib)");
    std::vector<std::pair<std::string, std::string>> objects;
    for (StringRef kernel : kernels) {
      // Line breaks before it, so that it keeps its lines.
      std::string padded(
          StringRef(text.begin(), kernel.begin() - text.begin()).count('\n'),
          '\n');
      padded += kernel;
      std::string object = checked(
          compileKernel({padded, name}, Stage::loops, options.targets.front()));
      noteSizes(object);
      objects.push_back({"kernel_" + std::to_string(objects.size()) + ".o",
                         std::move(object)});
    }
    writeOutput(path, checked(archiveOf(objects)));
  }

  /// An object refers to nothing but what moves memory.
  static void checkCalls(const llvm::Module &module, StringRef name) {
    for (const Function &function : module)
      if (function.isDeclaration() && !function.isIntrinsic() &&
          !is_contained({"memcpy", "memmove", "memset"}, function.getName()))
        throw Failure{kUserError,
                      (name + ": error: it calls '" + function.getName() +
                       "', which it does not define")
                          .str()};
  }

  /// What was made of a text; its errors are diagnostics with lines.
  template <typename T> static T checked(Expected<T> made) {
    if (made)
      return std::move(*made);
    std::string text = toString(made.takeError());
    if (isInternal(text))
      fail(text, kInternalError);
    throw Failure{kUserError, text};
  }

  //===-- Reports --===//

  void reportTimes() {
    raw_ostream &os = output == "-" || output.empty() ? errs() : outs();
    os << reports;
    if (arguments.text(OPT_time_report_as) == "json") {
      os << "[";
      for (auto [i, step] : enumerate(steps))
        os << (i ? ", " : "") << "{\"step\": \"" << step.first
           << "\", \"ms\": " << format("%.3f", step.second) << "}";
      os << "]\n";
    } else if (arguments.has(OPT_time_report)) {
      for (const auto &[step, ms] : steps)
        os << format("%10.2f ms  ", ms) << step << "\n";
    }
  }

  const Arguments &arguments;
  std::string output, from, kind, reports;
  AotOptions options;
  std::vector<std::pair<std::string, double>> steps;
};
} // namespace

int runCompile(const Arguments &arguments) {
  Compile(arguments).run();
  return kOk;
}

} // namespace tessera::tool
