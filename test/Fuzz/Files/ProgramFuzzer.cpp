// libFuzzer's entry for program files: text from anywhere is read, or refused
// with diagnostics; what is read is led down to the plan.
#include "lowering/Compiler.h"
#include "lowering/ProgramReader.h"
#include "mlir/IR/MLIRContext.h"
#include <random>

using namespace tessera::lowering;

/// Elements that a program may hold, so that a run is short. A symbolic
/// dimension counts as one.
static bool isSmall(mlir::ModuleOp module) {
  bool small = true;
  module.walk([&](mlir::Operation *op) {
    for (mlir::Type type : op->getResultTypes())
      if (auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type)) {
        int64_t elements = 1; // of at most 2^60, which reading has seen to
        for (int64_t size : tensor.getShape())
          elements *= mlir::ShapedType::isDynamic(size) ? 1 : size;
        small &= elements < (1 << 20);
      }
  });
  return small;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  ReadFailure failure;
  auto module =
      readProgram(llvm::MemoryBufferRef(text, "input"), context, failure);
  if (!module) {
    if (failure.text.empty())
      std::abort(); // refused without a word
    return 0;
  }
  if (!isSmall(*module))
    return 0;
  std::string error;
  (void)lowerTo(*module, Stage::plan, {}, error);
  return 0;
}

//===-- Mutations that keep most of a program whole --===//

namespace {
class Mutator {
public:
  Mutator(std::string text, unsigned seed) : text(text), generator(seed) {}

  std::string run() {
    switch (generator() % 4) {
    case 0:
      replaceNumber();
      break;
    case 1:
      replaceWord();
      break;
    case 2:
      dropLine();
      break;
    default:
      swapNumbers();
    }
    return text;
  }

private:
  using Span = std::pair<size_t, size_t>; ///< begin and length

  template <typename F> std::vector<Span> spans(F belongs) {
    std::vector<Span> found;
    for (size_t i = 0; i < text.size();) {
      size_t end = i;
      while (end < text.size() && belongs(text[end]))
        ++end;
      if (end > i)
        found.push_back({i, end - i});
      i = std::max(end, i + 1);
    }
    return found;
  }
  std::vector<Span> numbers() {
    return spans([](char c) { return c >= '0' && c <= '9'; });
  }
  Span pick(const std::vector<Span> &from) {
    return from[generator() % from.size()];
  }
  void replace(Span span, const std::string &by) {
    text.replace(span.first, span.second, by);
  }

  void replaceNumber() {
    static const char *const values[] = {"0",
                                         "1",
                                         "2",
                                         "3",
                                         "7",
                                         "16",
                                         "63",
                                         "64",
                                         "65",
                                         "1024",
                                         "-1",
                                         "-9",
                                         "2147483648",
                                         "4611686018427387904",
                                         "9223372036854775807",
                                         "99999999999999999999",
                                         "?"};
    if (auto all = numbers(); !all.empty())
      replace(pick(all), values[generator() % std::size(values)]);
  }

  void swapNumbers() {
    auto all = numbers();
    if (all.empty())
      return;
    Span from = pick(all);
    replace(pick(all), text.substr(from.first, from.second));
  }

  void replaceWord() {
    static const char *const words[] = {
        "f32",    "f64",    "i1",     "i32",     "i64",       "bf16",
        "f16",    "i7",     "index",  "sum",     "max",       "argmax",
        "prod",   "add",    "reduce", "reshape", "transpose", "slice",
        "concat", "kernel", "select", "compare", "return",    "main",
        "dims",   "tensor", "memref", "trace",   "plan",      "x",
        "loc",    "s0",     "s1",     "extent"};
    auto all = spans([](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
    if (!all.empty())
      replace(pick(all), words[generator() % std::size(words)]);
  }

  void dropLine() {
    auto all = spans([](char c) { return c != '\n'; });
    if (!all.empty())
      replace(pick(all), "");
  }

  std::string text;
  std::mt19937 generator;
};
} // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t most, unsigned seed) {
  if (seed % 4 == 0)
    return LLVMFuzzerMutate(data, size, most);
  std::string text(reinterpret_cast<const char *>(data), size);
  text = Mutator(text, seed).run();
  if (text.empty() || text.size() > most)
    return LLVMFuzzerMutate(data, size, most);
  std::copy(text.begin(), text.end(), data);
  return text.size();
}
