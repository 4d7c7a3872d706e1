// Wraps each kernel of a module in a function that hands ranges of blocks to
// the emulator, with a table of what it must know of the launch.
#include "lowering/GPU/Sim/Launches.h"
#include "lowering/CodeGen/Formula.h"
#include "lowering/CodeGen/GpuTarget.h"
#include "lowering/CodeGen/Jit.h"
#include "lowering/CodeGen/LowerSteps.h"
#include "lowering/GPU/LowerToNVVM.h"
#include "lowering/GPU/Sim/LowerToSim.h"
#include "lowering/GPU/Sim/SimBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "runtime/Environment.h"
#include "runtime/sim/SimAbi.h"
#include "llvm/ADT/StringMap.h"
#include <mutex>

using namespace mlir;
using tessera::runtime::SizeFormula;

namespace tessera::lowering {

llvm::Expected<TargetInfo> emulatedTargetFor(StringRef name) {
  llvm::Expected<TargetInfo> gpu = gpuTargetFor(name),
                             host = hostTargetOrError();
  if (!gpu)
    return gpu;
  if (!host)
    return host;
  // As any kernel for a GPU, those that are emulated take both for granted.
  if (!host->hasFMA || !host->hasRounding)
    return llvm::createStringError(
        llvm::inconvertibleErrorCode(),
        "GPUs are emulated on CPUs with FMA only, and " + host->cpu +
            " has none");
  host->gpu = gpu->gpu;
  host->hasChecks =
      runtime::readVariable(runtime::Variable::SimCheck).value_or("none") !=
      "none";
  host->hasCounters = bool(runtime::readVariable(runtime::Variable::Profile));
  return host;
}

llvm::Error defineEmulator() {
  static std::mutex mutex;
  static bool defined = false;
  std::lock_guard<std::mutex> lock(mutex);
  if (defined)
    return llvm::Error::success();
  const std::pair<StringRef, void *> functions[] = {
#define X(name) {#name, reinterpret_cast<void *>(&name)},
      TESSERA_SIM_FUNCTIONS(X)
#undef X
  };
  if (llvm::Error error = defineSymbols(functions))
    return error;
  defined = true;
  return llvm::Error::success();
}

namespace {

constexpr StringRef kTableSuffix = ".kernel";

using BufferSizes = llvm::StringMap<SmallVector<SizeFormula>>;

/// The bytes of each kernel's buffers, as far as its types or its emitter say.
LogicalResult findBufferSizes(ModuleOp module, BufferSizes &sizes) {
  WalkResult result = module.walk([&](gpu::GPUFuncOp func) {
    if (!func.isKernel())
      return WalkResult::advance();
    SmallVector<SizeFormula> &bytes = sizes[func.getName()];
    if (auto stated = func->getAttrOfType<ArrayAttr>(kBufferBytes))
      for (Attribute attribute : stated)
        if (auto formula = formulaOf(attribute))
          bytes.push_back(*formula);
    for (Type type : func.getArgumentTypes().drop_front(
             std::min<size_t>(bytes.size(), func.getNumArguments()))) {
      auto buffer = dyn_cast<MemRefType>(type);
      if (!buffer || !buffer.hasStaticShape()) {
        func.emitError("a kernel of a program takes buffers only, not ")
            << type;
        return WalkResult::interrupt();
      }
      bytes.push_back({buffer.getNumElements() *
                           llvm::divideCeil(buffer.getElementTypeBitWidth(), 8),
                       {}});
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void append(SmallVector<int64_t> &numbers, const SizeFormula &formula) {
  numbers.push_back(formula.constant);
  numbers.push_back(int64_t(formula.terms.size()));
  for (const SizeFormula::Term &term : formula.terms)
    numbers.append(
        {term.symbol, term.times, term.coefficient, term.plus, term.divisor});
}

/// What tessera_sim_run() reads of a launch.
SmallVector<int64_t> tableOf(const LaunchInfo &info, const GpuTarget &gpu,
                             ArrayRef<SizeFormula> bytes) {
  SmallVector<int64_t> numbers = {info.threads, info.sharedBytes,
                                  gpu.sharedPerBlock, info.buffers,
                                  info.takesDims ? info.buffers - 1 : -1};
  append(numbers, {info.tiles, info.tileTerms});
  for (const SizeFormula &formula : bytes)
    append(numbers, formula);
  return numbers;
}

/// Adds `void SYMBOL(void *const *buffers, int64_t begin, int64_t end)`.
void addLaunch(ModuleOp module, const LaunchInfo &info,
               ArrayRef<int64_t> numbers) {
  auto table =
      module.lookupSymbol<LLVM::GlobalOp>(info.name + kTableSuffix.str());
  assert(table && "every kernel has a table");
  table.setLinkage(LLVM::Linkage::Internal);
  Location loc = table.getLoc();
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i64 = b.getI64Type(), none = LLVM::LLVMVoidType::get(b.getContext());
  std::string launchName = info.name + ".launch";
  auto type = RankedTensorType::get({int64_t(numbers.size())}, i64);
  LLVM::GlobalOp::create(b, loc, LLVM::LLVMArrayType::get(i64, numbers.size()),
                         /*isConstant=*/true, LLVM::Linkage::Internal,
                         launchName, DenseIntElementsAttr::get(type, numbers));
  constexpr StringLiteral run = "tessera_sim_run";
  if (!module.lookupSymbol(run))
    LLVM::LLVMFuncOp::create(b, loc, run,
                             LLVM::LLVMFunctionType::get(
                                 none, {pointer, pointer, pointer, i64, i64}));
  auto function = LLVM::LLVMFuncOp::create(
      b, loc, info.symbol,
      LLVM::LLVMFunctionType::get(none, {pointer, i64, i64}));
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  Value kernel = LLVM::AddressOfOp::create(b, loc, pointer, table.getSymName());
  Value launch = LLVM::AddressOfOp::create(b, loc, pointer, launchName);
  LLVM::CallOp::create(b, loc, TypeRange(), run,
                       ValueRange{kernel, launch, entry->getArgument(0),
                                  entry->getArgument(1),
                                  entry->getArgument(2)});
  LLVM::ReturnOp::create(b, loc, ValueRange{});
}

void registerDialects(DialectRegistry &registry) {
  registerGpuDialects(registry);
  registerSimDialects(registry);
}

LogicalResult lower(ModuleOp module, const TargetInfo &target,
                    const LowerOptions &options,
                    std::vector<LaunchInfo> *launches) {
  BufferSizes sizes;
  std::vector<LaunchInfo> infos;
  if (failed(findBufferSizes(module, sizes)) ||
      failed(lowerGpuModule(module, target, {options.expandMath, ""}, &infos)))
    return failure();
  SimOptions sim;
  sim.checks = target.hasChecks;
  sim.counters = target.hasCounters;
  sim.symbolSuffix = kTableSuffix;
  if (failed(lowerToSim(module, sim)))
    return failure();
  for (LaunchInfo &info : infos) {
    info.symbol = info.name + options.symbolSuffix;
    addLaunch(module, info, tableOf(info, *target.gpu, sizes[info.name]));
  }
  setTarget(module, target);
  if (launches)
    *launches = std::move(infos);
  return success();
}

bool isOfEmulator(StringRef name) { return name.starts_with(kSimPrefix); }

} // namespace

const KernelLowering emulatorLowering = {registerDialects, lower, isOfEmulator};

} // namespace tessera::lowering
