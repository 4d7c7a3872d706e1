// tessera-numerics: evaluates the functions of a file on random inputs on every
// device, and compares.
#include "dialects/Tessera/IR/NarrowFloats.h"
#include "dialects/Tessera/IR/Tessera.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "test/Numerics/driver/Compare.h"
#include "test/Numerics/driver/Coverage.h"
#include "test/Numerics/driver/Devices.h"
#include "test/Numerics/driver/ElementTypes.h"
#include "test/Numerics/driver/Inputs.h"
#include "test/Numerics/driver/Symbolic.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include <cstdlib>
#include <random>

using namespace mlir;
using namespace tessera;
using namespace tessera::numerics;

namespace cl = llvm::cl;
static cl::opt<std::string> file(cl::Positional, cl::init("-"),
                                 cl::desc("FILE.mlir"));
static cl::opt<std::string>
    covers("covers", cl::desc("Instead of running a file, check that those of "
                              "a folder hold every op"));
static cl::opt<uint64_t>
    chosenSeed("seed", cl::desc("Seed of the inputs; without it a fresh one"));
static cl::list<std::string>
    onlyDevices("device", cl::CommaSeparated,
                cl::desc("Devices to run; all by default"));

static cl::opt<bool>
    symbolic("symbolic",
             cl::desc("Instead, make the leading size of the first argument "
                      "symbolic, and compare with the static programs"));

namespace {
/// One function, with one choice of element type.
class Test {
public:
  /// `drawn` says that the slow devices are to run it too.
  Test(func::FuncOp function, uint64_t seed, bool drawn)
      : function(function), seed(seed), drawn(drawn) {
    if (auto attr = function->getAttrOfType<IntegerAttr>("test.ulp"))
      tolerance.ulp = attr.getInt();
    if (auto attr = function->getAttrOfType<FloatAttr>("test.absolute"))
      tolerance.absolute = attr.getValueAsDouble();
  }

  LogicalResult run() {
    struct Prepared {
      const Device *device;
      std::vector<Variant> variants;
    };
    std::vector<Prepared> prepared;
    for (const Device &device : devices()) {
      if (!onlyDevices.empty() && !llvm::is_contained(onlyDevices, device.name))
        continue;
      if (device.sampled && !drawn)
        continue;
      auto variants = device.prepare(function);
      if (failed(variants))
        return function.emitError("cannot be prepared on ") << device.name;
      prepared.push_back({&device, std::move(*variants)});
    }
    for (Draw draw : kDraws) {
      Tensors inputs = makeInputs(function, draw, seed);
      FailureOr<Tensors> oracle = lowering::interpret(function, inputs);
      if (failed(oracle) || failed(checkExpected(*oracle)))
        return failure();
      for (const Prepared &p : prepared)
        if (failed(checkDevice(*p.device, p.variants, draw, inputs, *oracle)))
          return failure();
    }
    return success();
  }

private:
  /// Results that the file states literally.
  LogicalResult checkExpected(const Tensors &results) {
    for (auto [number, result] : llvm::enumerate(results))
      if (auto expected = function.getResultAttrOfType<DenseElementsAttr>(
              number, "test.expect"))
        if (auto difference =
                firstDifference(resultType(number), bytesOfElements(expected),
                                result, tolerance))
          return function.emitError("the oracle's result ")
                 << number << " is not the stated one " << *difference;
    return success();
  }

  LogicalResult checkDevice(const Device &device, ArrayRef<Variant> variants,
                            Draw draw, const Tensors &inputs,
                            const Tensors &oracle) {
    const Tensors *expected = &oracle;
    Tolerance allowed = device.exact ? Tolerance() : tolerance;
    Tolerance between; // between variants of the device
    if (device.hasTensorCores && multiplies(function, ir::isNarrowFloat)) {
      between = {.ulp = 2, .anyZero = true};
      allowed.ulp = std::max(allowed.ulp, between.ulp);
      allowed.anyZero = true;
    }
    Tensors first;
    for (const Variant &variant : variants) {
      FailureOr<Tensors> actual = variant.run(inputs);
      auto where = [&] {
        auto error = function.emitError("on ")
                     << device.name << " " << variant.name << ", "
                     << nameOf(draw) << " inputs of seed " << seed << ", types "
                     << function.getFunctionType();
        return error;
      };
      if (failed(actual))
        return where() << ": does not run";
      for (auto [number, pair] :
           llvm::enumerate(llvm::zip_equal(*expected, *actual)))
        if (auto difference =
                firstDifference(resultType(number), std::get<0>(pair),
                                std::get<1>(pair), allowed))
          return where() << ": result " << number << " " << *difference;
      if (expected == &oracle) {
        // The device's other variants give the bits of its first one, but for
        // products that are not on tensor cores in all of them.
        first = std::move(*actual);
        expected = &first;
        allowed = between;
      }
    }
    return success();
  }

  Type resultType(size_t number) { return function.getResultTypes()[number]; }

  func::FuncOp function;
  uint64_t seed;
  bool drawn;
  Tolerance tolerance;
};

/// The function with its own element type and with those in `test.types`.
FailureOr<SmallVector<func::FuncOp>> instances(func::FuncOp function) {
  SmallVector<func::FuncOp> all{function};
  auto types = function->getAttrOfType<ArrayAttr>("test.types");
  function->removeAttr("test.types");
  if (!types)
    return all;
  for (auto type : types.getAsValueRange<TypeAttr>()) {
    func::FuncOp copy = withElementType(function, type);
    all.push_back(copy);
    if (failed(verify(copy)))
      return failure();
  }
  return all;
}

/// Prints what became of a function.
bool checkedSymbolic(func::FuncOp function, uint64_t seed) {
  std::optional<lowering::TargetInfo> target;
  if (llvm::is_contained(onlyDevices, "sim"))
    target = cantFail(simTarget());
  Symbolic outcome = checkSymbolic(function, seed, target);
  static constexpr const char *kNames[] = {"same", "impossible", "refused",
                                           "wrong"};
  llvm::outs() << kNames[int(outcome)] << ": " << function.getName() << "\n";
  return outcome != Symbolic::wrong;
}

/// Whether nothing is sampled: with ./dev test --all, or where a device is
/// asked for.
bool everything() {
  return !onlyDevices.empty() || std::getenv("TESSERA_TEST_ALL");
}

/// Whether all devices that are asked for are there.
bool areHere() {
  bool ok = true;
  for (const std::string &name : onlyDevices)
    if (llvm::none_of(devices(), [&](const Device &device) {
          return device.name == name;
        })) {
      llvm::errs() << "tessera-numerics: there is no device " << name
                   << " here\n";
      ok = false;
    }
  return ok;
}

LogicalResult runAll(ModuleOp module, uint64_t seed) {
  bool ok = true;
  for (func::FuncOp function : llvm::to_vector(module.getOps<func::FuncOp>())) {
    auto all = instances(function);
    if (failed(all)) {
      ok = false;
      continue;
    }
    size_t drawn = llvm::hash_combine(seed, function.getName()) % all->size();
    for (auto [i, instance] : llvm::enumerate(*all))
      if (symbolic)
        ok &= checkedSymbolic(instance, seed);
      else
        ok &= succeeded(Test(instance, seed, i == drawn || everything()).run());
  }
  return success(ok);
}
} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv,
                              "Compares devices on random inputs\n");
  if (!areHere())
    return 2;
  uint64_t seed = chosenSeed.getNumOccurrences() ? uint64_t(chosenSeed)
                                                 : std::random_device()();
  DialectRegistry registry;
  registry.insert<ir::TesseraDialect, func::FuncDialect, arith::ArithDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  if (covers.getNumOccurrences())
    return failed(coversEveryOp(context, covers));
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  auto module = parseSourceFile<ModuleOp>(file, sources, &context);
  if (!module)
    return 2;
  llvm::outs() << "seed " << seed << "\n";
  return failed(runAll(*module, seed));
}
