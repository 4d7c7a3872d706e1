// All ways of computing a program, compared.
#include "test/Fuzz/Check.h"
#include "mlir/IR/Verifier.h"
#include "test/Fuzz/Generate.h"
#include "test/Fuzz/Ways.h"
#include "test/Numerics/driver/Compare.h"
#include "test/Numerics/driver/Inputs.h"
#include "test/Numerics/driver/Symbolic.h"

using namespace mlir;

namespace tessera::fuzz {
using numerics::Draw;
using numerics::Tensors;

namespace {
/// Compares ways one after the other; the first one given is the standard.
class Comparison {
public:
  Comparison(func::FuncOp function, uint64_t seed) : function(function) {
    // Ordinary numbers, and one of the other kinds.
    draws = {Draw::plain, numerics::kDraws[1 + seed % 3]};
    for (Draw draw : draws)
      inputs.push_back(numerics::makeInputs(function, draw, seed));
  }

  std::string compare(const Ways &ways) {
    for (const numerics::Variant &way : ways)
      for (size_t round = 0; round < inputs.size(); ++round)
        if (std::string text = compare(way, round); !text.empty())
          return way.name + ", " + numerics::nameOf(draws[round]) +
                 " inputs: " + text;
    return "";
  }

  std::vector<Draw> draws;
  std::vector<Tensors> inputs, expected;

private:
  std::string compare(const numerics::Variant &way, size_t round) {
    FailureOr<Tensors> results = failure();
    try {
      results = way.run(inputs[round]);
    } catch (const std::exception &error) {
      return error.what();
    }
    if (failed(results))
      return "does not run";
    if (expected.size() == round) {
      expected.push_back(std::move(*results));
      return "";
    }
    for (auto [number, type] : llvm::enumerate(function.getResultTypes()))
      if (auto difference = numerics::firstDifference(
              type, expected[round][number], (*results)[number], {}))
        return "result " + std::to_string(number) + " " + *difference;
    return "";
  }

  func::FuncOp function;
};
} // namespace

/// Of so many programs one is run on an emulated GPU too, which takes longer
/// than the rest.
static constexpr uint64_t kSimEvery = 6;

std::string check(ModuleOp module, uint64_t seed) {
  std::string messages;
  ScopedDiagnosticHandler handler(
      module.getContext(), [&](Diagnostic &diagnostic) {
        llvm::raw_string_ostream(messages) << diagnostic << "\n";
        return success();
      });
  auto program = module.lookupSymbol<func::FuncOp>("main");
  bool gradient =
      program->hasAttr(kGradient) &&
      llvm::any_of(program.getArgumentTypes(), [](Type type) {
        return isa<FloatType>(cast<RankedTensorType>(type).getElementType());
      });
  auto target = copyProgram(program, gradient);
  if (failed(target) || failed(verify(**target)))
    return "cannot be differentiated: " + messages;
  func::FuncOp main = *(*target)->getOps<func::FuncOp>().begin();
  Comparison comparison(main, seed);
  // In-place kernels are others, and take their time to compile: of the further
  // settings each program has one. Unfused it is computed below in any case.
  auto further = seed % 2 ? numerics::kUnfused : numerics::kDonated;
  auto compiled = numerics::prepareCpu(main, {numerics::kFused, further});
  if (failed(compiled))
    return messages;
  if (std::string text = comparison.compare(*compiled); !text.empty())
    return text;
  if (seed % kSimEvery == 0) {
    auto emulated = numerics::prepareSim(
        main, {seed / kSimEvery % 2 ? numerics::kFused : numerics::kDonated});
    if (failed(emulated))
      return messages;
    if (std::string text = comparison.compare(*emulated); !text.empty())
      return text;
  }
  auto carried = carriedWays(main);
  if (failed(carried))
    return messages;
  if (std::string text = comparison.compare(*carried); !text.empty())
    return text;
  if (auto symbolic = numerics::symbolicVariant(main))
    if (std::string text = comparison.compare({*symbolic}); !text.empty())
      return text;
  if (std::string text =
          comparison.compare(frontEndWays(program, gradient, seed));
      !text.empty())
    return text;
  return compareStepwise(main, comparison.inputs, comparison.expected);
}

} // namespace tessera::fuzz
