// tessera-fuzz: runs random programs in every way, or those of files, and
// prints what fails as a minimal program.
#include "dialects/Tessera/IR/Tessera.h"
#include "mlir/Parser/Parser.h"
#include "test/Fuzz/Check.h"
#include "test/Fuzz/Generate.h"
#include "test/Fuzz/Isolate.h"
#include "tools/tessera-reduce/ReduceProgram.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include <cstdlib>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace tessera::fuzz;

namespace cl = llvm::cl;
static cl::list<std::string>
    files(cl::Positional, cl::desc("FILE.mlir... to run instead of random "
                                   "programs"));
static cl::opt<uint64_t> firstSeed("seed", cl::init(1),
                                   cl::desc("Seed of the first program"));
static cl::opt<uint64_t> programCount("count", cl::init(300),
                                      cl::desc("How many programs, with "
                                               "consecutive seeds"));
static cl::opt<unsigned> jobCount("jobs", cl::init(1),
                                  cl::desc("How many processes run at once"));
static cl::opt<bool> reduces("reduce", cl::init(true),
                             cl::desc("Reduce what fails"));
static cl::opt<bool> prints("print",
                            cl::desc("Print the programs, and run none"));

static constexpr uint64_t kBatch = 50;
static constexpr unsigned kSecondsEach = 60;

/// Compiles and runs nothing itself, so that it can fork.
static MLIRContext &theContext() {
  static MLIRContext &context = *[] {
    DialectRegistry registry;
    registry.insert<tessera::ir::TesseraDialect, func::FuncDialect,
                    arith::ArithDialect>();
    auto *made = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
    made->loadAllAvailableDialects();
    return made;
  }();
  return context;
}

static std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module << "\n";
  return text;
}

/// Runs one program by itself; prints what fails, and says whether it does.
static bool fails(ModuleOp module, uint64_t seed, const std::string &command) {
  std::string text =
      isolated([&] { return check(module, seed); }, kSecondsEach);
  if (text.empty())
    return false;
  std::string report = "FAILED: " + command + "\n" + text + "\n";
  if (reduces) {
    std::string last = text;
    auto smallest = tessera::reduceProgram(module, [&](ModuleOp candidate) {
      std::string now =
          isolated([&] { return check(candidate, seed); }, kSecondsEach);
      if (!now.empty())
        last = now;
      return !now.empty();
    });
    report +=
        "// reduced; run it by: tessera-fuzz --seed=" + std::to_string(seed) +
        " FILE\n// " + last + "\n" + textOf(*smallest);
  }
  llvm::outs() << report;
  llvm::outs().flush();
  return true;
}

static bool failsSeed(uint64_t seed) {
  auto module = generate(theContext(), seed);
  return fails(*module, seed,
               "tessera-fuzz --count=1 --seed=" + std::to_string(seed));
}

/// Runs the programs from `first` on in one process, up to `last` or to one
/// that fails: its seed, or `last`.
static uint64_t runBatch(uint64_t first, uint64_t last) {
  // A place that the process, which may crash, shares with this one.
  static uint64_t &current = *static_cast<uint64_t *>(
      mmap(nullptr, sizeof(uint64_t), PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::string text = isolated(
      [&] {
        for (current = first; current < last; ++current)
          if (!check(*generate(theContext(), current), current).empty())
            return "fails";
        return "";
      },
      kSecondsEach * kBatch);
  return text.empty() ? last : current;
}

/// Runs every `jobs`-th batch from `job` on; the number of failures.
static unsigned runBatches(unsigned job) {
  unsigned failures = 0;
  uint64_t end = firstSeed + programCount;
  for (uint64_t first = firstSeed + job * kBatch; first < end;
       first += jobCount * kBatch) {
    uint64_t last = std::min(first + kBatch, end);
    for (uint64_t seed = first; seed < last; ++seed) {
      uint64_t begin = seed;
      seed = runBatch(begin, last);
      if (seed == last)
        break;
      ++failures;
      if (!failsSeed(seed))
        llvm::outs() << "FAILED: only after others: tessera-fuzz --seed="
                     << begin << " --count=" << seed - begin + 1 << "\n";
      llvm::outs().flush();
    }
  }
  return failures;
}

static unsigned runRandom() {
  std::vector<pid_t> workers;
  for (unsigned job = 0; job < std::max(1u, unsigned(jobCount)); ++job) {
    pid_t worker = fork();
    if (worker == 0)
      _exit(int(std::min(runBatches(job), 250u)));
    workers.push_back(worker);
  }
  unsigned failures = 0;
  for (pid_t worker : workers) {
    int status = 0;
    waitpid(worker, &status, 0);
    failures += WIFEXITED(status) ? unsigned(WEXITSTATUS(status)) : 1;
  }
  llvm::outs() << programCount << " programs from seed " << firstSeed << ": "
               << failures << " failed\n";
  return failures;
}

static unsigned runFiles() {
  unsigned failures = 0;
  for (const std::string &file : files) {
    auto module = parseSourceFile<ModuleOp>(file, &theContext());
    if (!module || fails(*module, firstSeed, "tessera-fuzz " + file))
      ++failures;
  }
  return failures;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "Runs random programs\n");
  // Nothing that another run left on disk may hide a fault.
  setenv("TESSERA_CACHE", "off", 1);
  if (prints) {
    for (uint64_t i = 0; i < programCount; ++i)
      llvm::outs() << textOf(*generate(theContext(), firstSeed + i));
    return 0;
  }
  return (files.empty() ? runRandom() : runFiles()) != 0;
}
