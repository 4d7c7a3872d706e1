// Makes a size symbolic, and runs the one program at several sizes.
#include "test/Numerics/driver/Symbolic.h"
#include "dialects/Tessera/IR/Symbols.h"
#include "dialects/Tessera/IR/Tessera.h"
#include "lowering/Compiler.h"
#include "mlir/IR/Verifier.h"
#include "runtime/Executable.h"
#include "test/Numerics/driver/Compare.h"
#include "test/Numerics/driver/Inputs.h"
#include "test/Numerics/driver/Random.h"

using namespace mlir;

namespace tessera::numerics {

using Program = std::shared_ptr<runtime::Executable>;
using Bytes = std::vector<lowering::TensorBytes>;

/// Sizes around those that the code makes a difference of: none, one, vectors,
/// chunks of products (512) and of sums (1,024), tiles.
static constexpr int64_t kSizes[] = {
    0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 64, 127, 511, 513, 1024, 1025, 2500};
/// Elements of an input that are worth the time.
static constexpr int64_t kMostElements = 1 << 21;

/// The size to make symbolic.
static int64_t leadingSize(func::FuncOp function) {
  for (Type type : function.getArgumentTypes())
    if (auto tensor = cast<RankedTensorType>(type);
        tensor.getRank() > 0 && tensor.getDimSize(0) > 1)
      return tensor.getDimSize(0);
  return 0;
}

/// The function as a program, its size replaced by the symbol's stand-in.
static OwningOpRef<ModuleOp> generalised(func::FuncOp function, int64_t size) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  func::FuncOp main = function.clone();
  main.setName("main");
  module->push_back(main);
  // Elements that a file states are of the static shape.
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (llvm::is_contained(
            cast<RankedTensorType>(main.getArgumentTypes()[i]).getShape(),
            size))
      main.removeArgAttr(i, "test.values");
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    main.removeResultAttr(i, StringAttr::get(main.getContext(), "test.expect"));
  ir::replaceSizes(*module, [&](int64_t dim) {
    return dim == size ? ir::StandIns::of(0) : dim;
  });
  ScopedDiagnosticHandler silent(function.getContext(),
                                 [](Diagnostic &) { return success(); });
  if (failed(verify(*module)) || failed(ir::verifySymbols(main)))
    return {};
  return module;
}

using Target = std::optional<lowering::TargetInfo>;

static FailureOr<Program> compile(ModuleOp module, bool fuse,
                                  std::string &error, Target target = {}) {
  lowering::ProgramOptions options;
  options.target = target;
  options.threads = 1;
  options.fuse = fuse;
  return lowering::compile(module, options, error);
}

static FailureOr<Bytes> run(const Program &program, const Bytes &tensors,
                            int threads, int64_t size) {
  std::vector<runtime::Storage> inputs, outputs(program->info().outputs.size());
  for (const lowering::TensorBytes &bytes : tensors) {
    inputs.push_back(runtime::Storage::allocate(bytes.size()));
    llvm::copy(bytes, static_cast<uint8_t *>(inputs.back().data()));
  }
  if (!program->run(inputs, outputs, threads, &size).ok())
    return failure();
  Bytes results;
  for (auto [info, storage] :
       llvm::zip_equal(program->info().outputs, outputs)) {
    auto *data = static_cast<const uint8_t *>(storage.data());
    size_t bytes = info.symbolic.empty() ? info.bytes : info.bytesAt(&size);
    results.emplace_back(data, data + bytes);
  }
  return results;
}

static bool isSmall(func::FuncOp function) {
  return llvm::all_of(function.getArgumentTypes(), [](Type type) {
    return cast<RankedTensorType>(type).getNumElements() <= kMostElements;
  });
}

std::optional<Variant> symbolicVariant(func::FuncOp function) {
  int64_t size = leadingSize(function);
  if (size == 0)
    return std::nullopt;
  ir::StandIns standIns(1);
  OwningOpRef<ModuleOp> general = generalised(function, size);
  if (!general)
    return std::nullopt;
  ir::writeSymbols(*general);
  std::string error;
  FailureOr<Program> program = compile(*general, /*fuse=*/true, error);
  if (failed(program))
    return std::nullopt;
  return Variant{"symbolic", [program = *program, size](const Tensors &inputs) {
                   return run(program, inputs, 2, size);
                 }};
}

namespace {
/// One function, compiled for all sizes in one way.
class Comparison {
public:
  Comparison(func::FuncOp function, int64_t size, ModuleOp general, bool fuse,
             uint64_t seed, Target target)
      : function(function), size(size), general(general), fuse(fuse),
        seed(seed), target(std::move(target)) {}

  Symbolic run(ArrayRef<int64_t> sizes) {
    OwningOpRef<ModuleOp> written = general.clone();
    ir::writeSymbols(*written);
    std::string error;
    FailureOr<Program> program = compile(*written, fuse, error, target);
    if (failed(program)) {
      llvm::outs() << "refused: " << function.getName() << ": " << error
                   << "\n";
      return Symbolic::refused;
    }
    for (int64_t m : sizes)
      if (m >= (*program)->info().symbols[0].least &&
          failed(compareAt(*program, m)))
        return Symbolic::wrong;
    return Symbolic::same;
  }

private:
  LogicalResult compareAt(const Program &symbolic, int64_t m) {
    OwningOpRef<ModuleOp> program = general.clone();
    ir::instantiate(*program, m);
    auto main = program->lookupSymbol<func::FuncOp>("main");
    if (!isSmall(main))
      return success();
    Bytes inputs = makeInputs(main, kDraws[size_t(m) % std::size(kDraws)],
                              seed + uint64_t(m));
    auto types = llvm::to_vector(main.getResultTypes());
    ir::StandIns none(0);
    std::string error;
    FailureOr<Program> fixed = compile(*program, fuse, error);
    if (failed(fixed))
      return success(); // The static program may be refused for its size.
    auto expected = numerics::run(*fixed, inputs, 1, m);
    for (int threads : {1, 3}) {
      auto actual = numerics::run(symbolic, inputs, threads, m);
      for (auto [number, type] : llvm::enumerate(types))
        if (auto difference = firstDifference(type, (*expected)[number],
                                              (*actual)[number], {}))
          return function.emitError("with its size ")
                 << size << " made symbolic and " << m
                 << (fuse ? ", fused" : ", unfused") << ", on " << threads
                 << " threads: result " << number << " " << *difference
                 << ", seed " << seed;
    }
    return success();
  }

  func::FuncOp function;
  int64_t size;
  ModuleOp general;
  bool fuse;
  uint64_t seed;
  Target target;
};
} // namespace

Symbolic checkSymbolic(func::FuncOp function, uint64_t seed, Target target) {
  int64_t size = leadingSize(function);
  if (size == 0 || !function.getOps<ir::KernelOp>().empty())
    return Symbolic::impossible;
  ir::StandIns standIns(1);
  OwningOpRef<ModuleOp> general = generalised(function, size);
  if (!general)
    return Symbolic::impossible;
  // None and one, and three others, so that a run takes little time.
  Random random(seed + function.getName().size());
  SmallVector<int64_t> sizes{0, 1};
  for (int i = 0; i < 3; ++i)
    sizes.push_back(kSizes[random.below(std::size(kSizes))]);
  return Comparison(function, size, *general, random.below(4) != 0, seed,
                    std::move(target))
      .run(sizes);
}

} // namespace tessera::numerics
