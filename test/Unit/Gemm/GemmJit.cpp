// Lowers a kernel module with MLIR's conversions, the short LLVM pipeline and
// LLJIT.
#include "GemmJit.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include <ctime>

using namespace mlir;
using namespace tessera::lowering::cpu;
namespace tessera::test {
namespace {

/// Time of this thread on a core.
double milliseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1e3 + now.tv_nsec * 1e-6;
}

LogicalResult lower(ModuleOp module) {
  MLIRContext *context = module.getContext();
  PassManager pm(context);
  pm.enableVerifier(false);
  pm.addPass(createSCFToControlFlowPass());
  if (failed(pm.run(module)))
    return failure();
  LowerToLLVMOptions options(context);
  options.useBarePtrCallConv = true;
  LLVMTypeConverter types(context, options);
  RewritePatternSet patterns(context);
  populateFuncToLLVMConversionPatterns(types, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(types, patterns);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  populateVectorToLLVMConversionPatterns(types, patterns);
  LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  return applyFullConversion(module, target, std::move(patterns));
}

/// Gives the launch the C signature of the ABI: pointers come from an array.
void addEntry(llvm::Module &module, const std::string &name) {
  llvm::Function *inner = module.getFunction(name);
  inner->setName(name + ".inner");
  inner->setLinkage(llvm::GlobalValue::InternalLinkage);
  llvm::LLVMContext &context = module.getContext();
  auto *pointer = llvm::PointerType::get(context, 0);
  auto *i64 = llvm::Type::getInt64Ty(context);
  auto *entry = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                              {pointer, i64, i64}, false),
      llvm::GlobalValue::ExternalLinkage, name, module);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "", entry));
  SmallVector<llvm::Value *> arguments;
  for (unsigned i = 0; i + 2 < inner->arg_size(); ++i)
    arguments.push_back(b.CreateLoad(
        pointer, b.CreateConstGEP1_64(pointer, entry->getArg(0), i)));
  arguments.push_back(entry->getArg(1));
  arguments.push_back(entry->getArg(2));
  b.CreateCall(inner, arguments);
  b.CreateRetVoid();
}

void optimise(llvm::Module &module, llvm::TargetMachine *machine) {
  llvm::LoopAnalysisManager lam;
  llvm::FunctionAnalysisManager fam;
  llvm::CGSCCAnalysisManager cam;
  llvm::ModuleAnalysisManager mam;
  llvm::PassBuilder pb(machine);
  pb.registerModuleAnalyses(mam);
  pb.registerCGSCCAnalyses(cam);
  pb.registerFunctionAnalyses(fam);
  pb.registerLoopAnalyses(lam);
  pb.crossRegisterProxies(lam, fam, cam, mam);
  llvm::ModulePassManager passes;
  cantFail(pb.parsePassPipeline(
      passes, "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,"
              "simplifycfg,loop-mssa(licm),gvn,instcombine<no-verify-fixpoint>,"
              "simplifycfg)"));
  passes.run(module, mam);
}

llvm::orc::JITTargetMachineBuilder machineFor(const std::string &cpu) {
  static bool once = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)once;
  auto builder =
      cpu.empty() ? cantFail(llvm::orc::JITTargetMachineBuilder::detectHost())
                  : llvm::orc::JITTargetMachineBuilder(
                        llvm::Triple(llvm::sys::getProcessTriple()));
  if (!cpu.empty())
    builder.setCPU(cpu);
  builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  return builder;
}

struct Lowered {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::vector<std::pair<std::string, int64_t>> launches;
  int64_t workspaceBytes;
};

Lowered lowerGemm(llvm::orc::JITTargetMachineBuilder &builder,
                  llvm::function_ref<int64_t(ModuleOp, Location)> emit,
                  CompileTimes &times) {
  static DialectRegistry *registry = [] {
    auto *registry = new DialectRegistry;
    registry
        ->insert<func::FuncDialect, arith::ArithDialect, memref::MemRefDialect,
                 scf::SCFDialect, cf::ControlFlowDialect, vector::VectorDialect,
                 LLVM::LLVMDialect>();
    registerBuiltinDialectTranslation(*registry);
    registerLLVMDialectTranslation(*registry);
    return registry;
  }();
  MLIRContext context(*registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  Lowered result;
  double start = milliseconds();
  Location loc = UnknownLoc::get(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  result.workspaceBytes = emit(*module, loc);
  double emitted = milliseconds();
  if (failed(verify(*module)))
    llvm::report_fatal_error("the emitted module is not valid");
  if (getenv("GEMM_DUMP"))
    module->dump();
  for (auto function : module->getOps<func::FuncOp>())
    if (auto tiles = function->getAttrOfType<IntegerAttr>("tessera.launch"))
      result.launches.emplace_back(function.getName().str(), tiles.getInt());
  double verified = milliseconds();
  if (failed(lower(*module)))
    llvm::report_fatal_error("lowering failed");
  double lowered = milliseconds();
  result.context = std::make_unique<llvm::LLVMContext>();
  result.module = translateModuleToLLVMIR(*module, *result.context);
  for (auto &[name, tiles] : result.launches)
    addEntry(*result.module, name);
  double translated = milliseconds();
  auto machine = cantFail(builder.createTargetMachine());
  result.module->setDataLayout(machine->createDataLayout());
  result.module->setTargetTriple(machine->getTargetTriple());
  for (llvm::Function &function : *result.module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", builder.getCPU());
    function.addFnAttr("target-features", builder.getFeatures().getString());
  }
  optimise(*result.module, machine.get());
  if (const char *path = getenv("GEMM_LL")) {
    std::error_code error;
    llvm::raw_fd_ostream os(path, error);
    os << *result.module;
  }
  times.emit = emitted - start;
  times.mlir = lowered - verified;
  times.translate = translated - lowered;
  times.optimise = milliseconds() - translated;
  return result;
}

} // namespace

GemmTarget targetOf(const std::string &cpu) {
  GemmTarget target;
  llvm::StringMap<bool> features;
  if (cpu.empty())
    features = llvm::sys::getHostCPUFeatures();
  bool v4 = cpu == "x86-64-v4" || features.lookup("avx512vl");
  bool v3 = v4 || cpu == "x86-64-v3" || features.lookup("avx2");
  target.vectorBits = v4 ? 512 : v3 ? 256 : 128;
  target.registers = v4 ? 32 : 16;
  target.fma = target.masks = v3;
  return target;
}

CompiledGemm compileGemm(const std::string &cpu,
                         llvm::function_ref<int64_t(ModuleOp, Location)> emit) {
  CompiledGemm result;
  auto builder = machineFor(cpu);
  Lowered lowered = lowerGemm(builder, emit, result.times);
  std::shared_ptr<llvm::orc::LLJIT> jit = cantFail(
      llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(builder).create());
  double created = milliseconds();
  cantFail(jit->addIRModule(llvm::orc::ThreadSafeModule(
      std::move(lowered.module), std::move(lowered.context))));
  for (auto &[name, tiles] : lowered.launches)
    result.launches.push_back(
        {cantFail(jit->lookup(name)).toPtr<LaunchFn>(), tiles});
  result.times.codegen = milliseconds() - created;
  result.workspaceBytes = lowered.workspaceBytes;
  result.jit = jit;
  return result;
}

std::string assembleGemm(const std::string &cpu,
                         llvm::function_ref<int64_t(ModuleOp, Location)> emit) {
  CompileTimes times;
  auto builder = machineFor(cpu);
  Lowered lowered = lowerGemm(builder, emit, times);
  auto machine = cantFail(builder.createTargetMachine());
  SmallVector<char> text;
  llvm::raw_svector_ostream os(text);
  llvm::legacy::PassManager pm;
  machine->addPassesToEmitFile(pm, os, nullptr,
                               llvm::CodeGenFileType::AssemblyFile);
  pm.run(*lowered.module);
  return std::string(text.begin(), text.end());
}

} // namespace tessera::test
