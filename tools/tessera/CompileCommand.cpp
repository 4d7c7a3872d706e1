// tessera compile: from any stage to any other, and to what a linker takes.
#include "lowering/Aot/Header.h"
#include "lowering/CodeGen/Assemble.h"
#include "lowering/CodeGen/CompileKernels.h"
#include "lowering/Compiler.h"
#include "lowering/Dump.h"
#include "lowering/ProgramReader.h"
#include "tools/tessera/Link.h"
#include "tools/tessera/Program.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace llvm;
using namespace tessera::lowering;

namespace tessera::tool {

static constexpr StringRef kKinds[] = {"trace", "tensor", "kernels", "plan",
                                       "loops", "llvm",   "asm",     "obj",
                                       "lib",   "so",     "exe",     "header"};

namespace {
/// One run of the command.
class Compile {
public:
  explicit Compile(const Arguments &arguments)
      : arguments(arguments), output(arguments.text(OPT_o)),
        kind(chooseKind()) {
    options.name = chooseName();
    options.targets = chooseTargets();
    options.threads = int(arguments.integer(OPT_threads, 1, 1024, 0));
    options.fuse = !arguments.has(OPT_no_fuse);
    options.debugInfo = !arguments.has(OPT_no_lines);
    options.embedWeights = !arguments.has(OPT_pass_weights);
    options.timing = [this](StringRef step, double ms) {
      steps.push_back({step.str(), ms});
    };
  }

  void run() {
    Clock::time_point start = Clock::now();
    std::string from =
        arguments.oneOf(OPT_from, {"trace", "tensor", "kernels", "plan",
                                   "loops", "llvm", "asm"});
    if (from == "loops" || from == "llvm" || from == "asm")
      compileText(from);
    else
      compileProgram(from);
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
        .Default("obj");
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
    for (const std::string &name : names) {
      Expected<TargetInfo> target = targetFor(name);
      if (!target)
        failUsage("--target: " + toString(target.takeError()));
      targets.push_back(std::move(*target));
    }
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

  void compileProgram(StringRef from) {
    Program program(arguments, Symbols::mayStay);
    if (!from.empty())
      checkStage(program, from);
    options.source = program.path == "-"
                         ? "standard input"
                         : sys::path::filename(program.path).str();
    if (std::optional<Stage> stage = stageNamed(kind); stage && kind != "llvm")
      return emitStage(program, *stage);
    describeWeights(program);
    dump(program);
    Expected<AotProgram> compiled = compileAhead(program.module(), options);
    if (!compiled)
      fail(compiled.takeError());
    emit(*compiled);
  }

  void checkStage(Program &program, StringRef from) {
    FailureOr<Stage> stage = stageOf(program.module());
    if (succeeded(stage) && nameOf(*stage) != from)
      fail(program.path + " is in the " + nameOf(*stage) +
           " stage, and --from says " + from);
  }

  /// trace to loops: texts.
  void emitStage(Program &program, Stage wanted) {
    std::string text, error;
    ProgramOptions lower;
    lower.fuse = options.fuse;
    lower.threads = 1; // so that kernels come in order
    lower.target = options.targets.front();
    lower.observe = [&](Stage stage, StringRef kernel, StringRef stageText) {
      if (stage != wanted)
        return;
      if (!text.empty())
        text += "// -----\n";
      if (!kernel.empty())
        text += ("// kernel " + kernel + "\n").str();
      text += stageText;
    };
    if (failed(lowerTo(program.module(), wanted, lower, error)))
      fail(StringRef(error).rtrim());
    if (text.empty())
      fail(program.path + " is past the " + nameOf(wanted) + " stage already");
    writeOutput(output.empty() ? "-" : output, text);
  }

  /// Every stage, down to the assembly, for the first target.
  void dump(Program &program) {
    if (!arguments.has(OPT_dump_to))
      return;
    mlir::OwningOpRef<mlir::ModuleOp> copy(program.module().clone());
    Dump files(arguments.text(OPT_dump_to), copy->getLoc());
    ProgramOptions lower;
    lower.fuse = options.fuse;
    lower.target = options.targets.front();
    lower.observe = [&](Stage stage, StringRef kernel, StringRef text) {
      files.write(stage, kernel, text);
    };
    std::string error;
    if (failed(lowerTo(*copy, Stage::code, lower, error)))
      fail(StringRef(error).rtrim());
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
    if (kind == "llvm")
      return writeOutput(outputOr(".ll"), printIR(program.code));
    if (kind == "asm") {
      Expected<std::string> text = emitAssembly(program.code, program.machine);
      if (!text)
        fail(text.takeError());
      return writeOutput(outputOr(".s"), *text);
    }
    std::string object = generate(program);
    if (arguments.has(OPT_size_report)) {
      Expected<std::string> report = sizeReport(object);
      if (!report)
        fail(report.takeError());
      reports += *report;
    }
    writeBinary(object);
    writeHeader(header);
  }

  std::string generate(AotProgram &program) {
    Clock::time_point start = Clock::now();
    Expected<std::string> object = objectOf(program);
    if (!object)
      fail(object.takeError());
    noteStep("code", start);
    return std::move(*object);
  }

  void writeBinary(StringRef object) {
    std::string path = outputOr(kind == "lib"   ? ".a"
                                : kind == "so"  ? ".so"
                                : kind == "exe" ? ""
                                                : ".o");
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

  void writeHeader(StringRef header) {
    std::string path = arguments.text(OPT_header_file);
    if (path.empty() && (output.empty() || output == "-" || kind == "exe"))
      return;
    if (path.empty()) {
      SmallString<128> beside(sys::path::parent_path(output));
      sys::path::append(beside, options.name + ".h");
      path = beside.str().str();
    }
    writeOutput(path, header);
  }

  //===-- From the text of kernels --===//

  /// loops, llvm and asm: the functions that the text holds, as an object.
  void compileText(StringRef from) {
    if (kind != "obj" && kind != "lib" && kind != "asm" && kind != "llvm")
      failUsage("from the " + from +
                " stage there is llvm, asm, obj and lib, "
                "and not " +
                kind);
    std::unique_ptr<MemoryBuffer> text = readInput(arguments.file());
    std::string error;
    if (from == "loops" &&
        !isWithinBounds(text->getBuffer(), arguments.file(), error))
      throw Failure{kUserError, error};
    const TargetInfo &target = options.targets.front();
    if (from == "asm" || from == "llvm") {
      Expected<std::string> object =
          from == "asm" ? assemble(text->getBuffer(), target)
                        : compileKernel(text->getBuffer(), Stage::llvm, target);
      if (!object)
        fail(object.takeError());
      return writeBinary(*object);
    }
    // Kernels one after the other, as --emit=loops writes them.
    std::vector<std::pair<std::string, std::string>> objects;
    SmallVector<StringRef> kernels;
    text->getBuffer().split(kernels, "// -----\n");
    for (StringRef kernel : kernels) {
      Expected<std::string> object =
          compileKernel(kernel, Stage::loops, target);
      if (!object)
        fail(object.takeError());
      objects.push_back({"kernel_" + std::to_string(objects.size()) + ".o",
                         std::move(*object)});
    }
    if (objects.size() == 1)
      return writeBinary(objects.front().second);
    if (kind != "lib")
      fail(arguments.file() + " holds " + Twine(objects.size()) +
           " kernels: they become an archive (--emit=lib)");
    Expected<std::string> archive = archiveOf(objects);
    if (!archive)
      fail(archive.takeError());
    writeOutput(outputOr(".a"), *archive);
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
  std::string output, kind, reports;
  AotOptions options;
  std::vector<std::pair<std::string, double>> steps;
};
} // namespace

int runCompile(const Arguments &arguments) {
  Compile(arguments).run();
  return kOk;
}

} // namespace tessera::tool
