// Programs to look at: their stages as text, and what the plan says.
#include "tessera/Lower.h"

#include "frontend/Devices.h"
#include "frontend/Program.h"
#include "frontend/Recording.h"
#include "lowering/Explain.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <array>

using namespace mlir;

namespace tessera {
using namespace detail;

static_assert(int(Stage::code) == int(lowering::Stage::code) &&
                  int(Stage::plan) == int(lowering::Stage::plan),
              "the stages are those of the compiler");

static bool isOfKernels(Stage stage) { return stage > Stage::plan; }

struct Lowered::State {
  State(const Slice &slice, std::source_location place) : place(place) {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    OwningOpRef<ModuleOp> module = copySlice(slice, context);
    lowerTo(*module, lowering::Stage::plan);
    func::FuncOp main = lowering::mainFunction(*module);
    page = lowering::explain(main);
    lowering::Cost sum = lowering::costOf(main);
    cost = {sum.flops, sum.bytes};
  }

  /// Kernels are compiled when they are first asked for, from the plan's text.
  std::string text(Stage stage) {
    std::lock_guard guard(mutex);
    if (isOfKernels(stage) && texts[size_t(stage)].empty()) {
      MLIRContext context(MLIRContext::Threading::DISABLED);
      context.loadDialect<ir::TesseraDialect, func::FuncDialect>();
      auto module = parseSourceString<ModuleOp>(texts[size_t(Stage::plan)],
                                                ParserConfig(&context), "plan");
      lowerTo(*module, lowering::Stage::code);
    }
    return texts[size_t(stage)];
  }

  std::string page;
  Cost cost;

private:
  void lowerTo(ModuleOp module, lowering::Stage last) {
    lowering::ProgramOptions options = programOptions(
        detail::isInterpreted(default_device()) ? Device() : default_device(),
        place);
    options.threads = 1; // so that kernels come in order
    options.observe = [this](lowering::Stage stage, llvm::StringRef kernel,
                             llvm::StringRef text) {
      add(Stage(stage), kernel, text);
    };
    std::string error;
    if (failed(lowering::lowerTo(module, last, options, error)))
      throw InternalError(errorPlace(place), "lower", error);
  }

  void add(Stage stage, llvm::StringRef kernel, llvm::StringRef text) {
    std::string &all = texts[size_t(stage)];
    if (!isOfKernels(stage)) {
      all = text.str();
      return;
    }
    const char *comment = stage == Stage::loops  ? "//"
                          : stage == Stage::llvm ? ";"
                                                 : "#";
    // MLIR's tools split a file at such a line.
    if (!all.empty())
      all += std::string(comment) + " -----\n";
    all += std::string(comment) + " kernel " + kernel.str() + "\n" + text.str();
  }

  std::source_location place;
  std::mutex mutex;
  std::array<std::string, size_t(Stage::code) + 1> texts;
};

std::string Lowered::text(Stage stage) const { return state->text(stage); }
std::string Lowered::explain() const { return state->page; }
Cost Lowered::cost() const { return state->cost; }

namespace detail {
Lowered lowerSlice(const Slice &slice, std::source_location place) {
  return Lowered(std::make_shared<Lowered::State>(slice, place));
}
} // namespace detail

} // namespace tessera
