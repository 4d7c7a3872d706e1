// LLVM's function passes and code generation, with target machines and pass
// pipelines that are reused.
#include "lowering/CodeGen/Optimize.h"
#include "lowering/CodeGen/FatalErrors.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <map>
#include <mutex>

using namespace llvm;

namespace tessera::lowering {

namespace {

constexpr StringRef kPipeline = "sroa,early-cse<memssa>,instcombine<no-verify-"
                                "fixpoint>,simplifycfg,loop-mssa(licm),gvn,"
                                "instcombine<no-verify-fixpoint>,simplifycfg";

Error internalError(const Twine &text) {
  return createStringError(inconvertibleErrorCode(), "internal error: " + text);
}

/// Keeps errors instead of printing them and ending the process.
struct RecordErrors : DiagnosticHandler {
  explicit RecordErrors(std::string &text) : text(text) {}

  bool handleDiagnostics(const DiagnosticInfo &info) override {
    if (info.getSeverity() == DS_Error) {
      raw_string_ostream os(text);
      DiagnosticPrinterRawOStream printer(os);
      os << (text.empty() ? "" : "; ");
      info.print(printer);
    }
    return true;
  }

  std::string &text;
};

/// A target machine and the pass pipeline that belongs to it. Making one costs
/// more than compiling a small kernel, so they are kept and lent to one
/// compilation at a time.
struct Backend {
  std::unique_ptr<TargetMachine> machine;
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  FunctionPassManager passes;
};

void initialiseLLVM() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeAArch64AsmParser();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

Expected<std::unique_ptr<Backend>> makeBackend(const TargetInfo &target) {
  Expected<const Target *> llvmTarget = llvmTargetOf(target);
  if (!llvmTarget)
    return llvmTarget.takeError();
  Triple triple(target.triple);
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Strict;
  auto backend = std::make_unique<Backend>();
  backend->machine.reset(
      (*llvmTarget)
          ->createTargetMachine(triple, target.cpu, target.features, options,
                                Reloc::PIC_, CodeModel::Small,
                                CodeGenOptLevel::Default));
  if (!backend->machine)
    return internalError("LLVM has no target machine for " + target.triple);
  PassBuilder builder(backend->machine.get());
  builder.registerModuleAnalyses(backend->modules);
  builder.registerCGSCCAnalyses(backend->components);
  builder.registerFunctionAnalyses(backend->functions);
  builder.registerLoopAnalyses(backend->loops);
  builder.crossRegisterProxies(backend->loops, backend->functions,
                               backend->components, backend->modules);
  if (Error parseError = builder.parsePassPipeline(backend->passes, kPipeline))
    return std::move(parseError);
  return backend;
}

/// Lends a backend from the pool for as long as it lives. After a fatal error
/// of LLVM the backend is in an unknown state and must be abandoned.
class BackendLease {
public:
  static Expected<BackendLease> take(const TargetInfo &target) {
    std::string key = target.triple + "|" + target.cpu + "|" + target.features;
    Pool &pool = getPool();
    {
      std::lock_guard<std::mutex> lock(pool.mutex);
      auto &free = pool.free[key];
      if (!free.empty()) {
        std::unique_ptr<Backend> backend = std::move(free.back());
        free.pop_back();
        return BackendLease(std::move(key), std::move(backend));
      }
    }
    Expected<std::unique_ptr<Backend>> backend = makeBackend(target);
    if (!backend)
      return backend.takeError();
    return BackendLease(std::move(key), std::move(*backend));
  }

  BackendLease(BackendLease &&) = default;
  ~BackendLease() {
    if (!backend)
      return;
    std::lock_guard<std::mutex> lock(getPool().mutex);
    getPool().free[key].push_back(std::move(backend));
  }

  Backend *operator->() { return backend.get(); }
  Backend &operator*() { return *backend; }
  /// It is kept, since what LLVM still points to cannot be known.
  void abandon() {
    std::lock_guard<std::mutex> lock(getPool().mutex);
    getPool().abandoned.push_back(std::move(backend));
  }

private:
  struct Pool {
    std::mutex mutex;
    std::map<std::string, std::vector<std::unique_ptr<Backend>>> free;
    std::vector<std::unique_ptr<Backend>> abandoned;
  };
  static Pool &getPool() {
    static Pool *pool = new Pool;
    return *pool;
  }

  BackendLease(std::string key, std::unique_ptr<Backend> backend)
      : key(std::move(key)), backend(std::move(backend)) {}

  std::string key;
  std::unique_ptr<Backend> backend;
};

void setTarget(llvm::Module &module, const TargetInfo &target,
               const TargetMachine &machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  for (Function &function : module) {
    if (function.isIntrinsic())
      continue;
    function.addFnAttr(Attribute::NoUnwind);
    // Functions of several targets are linked into one module.
    if (function.hasFnAttribute("target-cpu"))
      continue;
    function.addFnAttr("target-cpu", target.cpu);
    function.addFnAttr("target-features", target.features);
    if (target.hasAVX512)
      function.addFnAttr("prefer-vector-width", "512");
  }
}

/// Puts each body into its wrapper once it is optimised, where its arguments'
/// noalias has done its work: code generation has a large fixed cost for each
/// function.
void inlineBodies(llvm::Module &module) {
  for (Function &body : llvm::make_early_inc_range(module)) {
    if (!body.hasLocalLinkage() || !body.hasOneUse() ||
        body.hasFnAttribute(Attribute::NoInline))
      continue;
    auto *call = dyn_cast<CallBase>(body.user_back());
    if (!call || call->getCalledFunction() != &body ||
        call->getFunction()->hasLocalLinkage())
      continue;
    InlineFunctionInfo info;
    if (InlineFunction(*call, info).isSuccess())
      body.eraseFromParent();
  }
}

/// Inlines the functions that ask for it, wherever they are called. They do not
/// call themselves.
void inlineAlways(llvm::Module &module) {
  for (Function &function : llvm::make_early_inc_range(module)) {
    if (!function.hasFnAttribute(Attribute::AlwaysInline) ||
        function.isDeclaration())
      continue;
    for (User *user : llvm::make_early_inc_range(function.users())) {
      InlineFunctionInfo info;
      if (auto *call = dyn_cast<CallBase>(user))
        InlineFunction(*call, info);
    }
    if (function.hasLocalLinkage() && function.use_empty())
      function.eraseFromParent();
  }
}

void runPasses(llvm::Module &module, Backend &backend) {
  inlineAlways(module);
  for (Function &function : module)
    if (!function.isDeclaration())
      backend.passes.run(function, backend.functions);
  inlineBodies(module);
}

void clearAnalyses(Backend &backend) {
  backend.loops.clear();
  backend.functions.clear();
  backend.components.clear();
  backend.modules.clear();
}

/// Takes the errors that LLVM recorded, if there are any.
Error takeDiagnostics(const IRModule &ir) {
  if (ir.diagnostics->empty())
    return Error::success();
  std::string text = std::move(*ir.diagnostics);
  ir.diagnostics->clear();
  return internalError("LLVM: " + text);
}

Expected<std::string> generateCode(llvm::Module &module,
                                   const TargetInfo &target,
                                   CodeGenFileType kind,
                                   CodeGenOptLevel level) {
  Expected<BackendLease> backend = BackendLease::take(target);
  if (!backend)
    return backend.takeError();
  (*backend)->machine->setOptLevel(level);
  // A compilation without optimisation, such as that of a plan's entry, leaves
  // the fast instruction selector switched on in the machine.
  (*backend)->machine->setFastISel(false);
  setTarget(module, target, *(*backend)->machine);
  SmallString<0> *code = new SmallString<0>;
  bool possible = true;
  Error fatal = runGuarded([&] {
    raw_svector_ostream os(*code);
    legacy::PassManager passes;
    possible = !(*backend)->machine->addPassesToEmitFile(
        passes, os, nullptr, kind, /*DisableVerify=*/true);
    if (possible)
      passes.run(module);
  });
  if (fatal) {
    backend->abandon();
    return std::move(fatal);
  }
  std::string result(code->str());
  delete code;
  if (!possible)
    return internalError("LLVM cannot emit this kind of file");
  return result;
}

Error checkUndefinedSymbols(StringRef object,
                            function_ref<bool(StringRef)> isKnown) {
  auto file =
      object::ObjectFile::createObjectFile(MemoryBufferRef(object, "kernel"));
  if (!file)
    return file.takeError();
  std::string unknown;
  for (const object::SymbolRef &symbol : (*file)->symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    Expected<StringRef> name = symbol.getName();
    if (!flags || !name)
      return joinErrors(flags.takeError(), name.takeError());
    if (!(*flags & object::SymbolRef::SF_Undefined) || name->empty() ||
        *name == "_GLOBAL_OFFSET_TABLE_" || *name == "memcpy" ||
        *name == "memmove" || *name == "memset" || (isKnown && isKnown(*name)))
      continue;
    unknown += (unknown.empty() ? "" : ", ") + name->str();
  }
  if (!unknown.empty())
    return internalError("generated code calls " + unknown +
                         ", which it must not");
  return Error::success();
}

} // namespace

Expected<const Target *> llvmTargetOf(const TargetInfo &target) {
  initialiseLLVM();
  std::string error;
  const Target *found =
      TargetRegistry::lookupTarget(Triple(target.triple), error);
  if (!found)
    return internalError(error);
  return found;
}

IRModule::IRModule()
    : diagnostics(std::make_unique<std::string>()),
      context(std::make_unique<LLVMContext>()) {
  context->setDiagnosticHandler(std::make_unique<RecordErrors>(*diagnostics));
}

Expected<IRModule> translateToIR(mlir::ModuleOp module) {
  IRModule ir;
  ir.module = mlir::translateModuleToLLVMIR(module, *ir.context, "kernel",
                                            /*disableVerification=*/true);
  if (!ir.module)
    return internalError("a module does not translate to LLVM IR");
  return ir;
}

Expected<IRModule> parseIR(StringRef text, StringRef name) {
  IRModule ir;
  SMDiagnostic diagnostic;
  std::string message;
  raw_string_ostream os(message);
  std::unique_ptr<MemoryBuffer> source =
      MemoryBuffer::getMemBufferCopy(text, name);
  ir.module = parseAssembly(*source, diagnostic, *ir.context);
  if (!ir.module)
    diagnostic.print(nullptr, os, /*ShowColors=*/false);
  else if (verifyModule(*ir.module, &os))
    message = (name + ": error: " + message).str();
  if (!message.empty())
    return createStringError(inconvertibleErrorCode(), message);
  return ir;
}

Error optimize(IRModule &ir, const TargetInfo &target) {
  Expected<BackendLease> backend = BackendLease::take(target);
  if (!backend)
    return backend.takeError();
  setTarget(*ir.module, target, *(*backend)->machine);
  if (Error fatal = runGuarded([&] { runPasses(*ir.module, **backend); })) {
    backend->abandon();
    return fatal;
  }
  clearAnalyses(**backend);
  return takeDiagnostics(ir);
}

Error linkInto(IRModule &ir, StringRef bitcode) {
  auto part = parseBitcodeFile(MemoryBufferRef(bitcode, "kernel"), *ir.context);
  if (!part)
    return part.takeError();
  if (Linker::linkModules(*ir.module, std::move(*part)))
    return createStringError("internal error: a kernel does not link: " +
                             *ir.diagnostics);
  return Error::success();
}

std::string printIR(const IRModule &ir) {
  std::string text;
  raw_string_ostream os(text);
  // Code generation follows the order of uses here and there, so what is read
  // back needs the same.
  ir.module->print(os, nullptr, /*ShouldPreserveUseListOrder=*/true);
  return text;
}

Expected<std::string> emitAssembly(const IRModule &ir,
                                   const TargetInfo &target) {
  std::unique_ptr<llvm::Module> copy = CloneModule(*ir.module);
  Expected<std::string> text = generateCode(
      *copy, target, CodeGenFileType::AssemblyFile, CodeGenOptLevel::Default);
  if (!text) {
    (void)copy.release();
    return text;
  }
  if (Error error = takeDiagnostics(ir))
    return std::move(error);
  return text;
}

Expected<std::string> emitObject(IRModule ir, const TargetInfo &target,
                                 function_ref<bool(StringRef)> isKnown,
                                 CodeGenOptLevel level) {
  Expected<std::string> object =
      generateCode(*ir.module, target, CodeGenFileType::ObjectFile, level);
  if (!object) {
    // After a fatal error the module may be half changed: leak it.
    (void)ir.module.release();
    (void)ir.context.release();
    (void)ir.diagnostics.release();
    return object;
  }
  if (Error error = takeDiagnostics(ir))
    return std::move(error);
  if (Error error = checkUndefinedSymbols(*object, isKnown))
    return std::move(error);
  return object;
}

} // namespace tessera::lowering
