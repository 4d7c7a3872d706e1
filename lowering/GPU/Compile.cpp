// The stages of a GPU kernel: NVVM dialect, LLVM IR, PTX, cubin.
#include "lowering/GPU/Compile.h"
#include "lowering/CodeGen/DebugLines.h"
#include "lowering/CodeGen/Hash.h"
#include "lowering/CodeGen/Optimize.h"
#include "lowering/GPU/Cubin.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Dialect/LLVMIR/BasicPtxBuilderInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tessera::lowering {

namespace {

Error textError(const Twine &text) {
  return createStringError(inconvertibleErrorCode(), text);
}

/// Ops without an LLVM intrinsic become inline PTX.
mlir::LogicalResult lowerToInlinePTX(mlir::ModuleOp module) {
  bool needed = false;
  module.walk([&](mlir::NVVM::BasicPtxBuilderInterface op) {
    needed |= !op.hasIntrinsic();
  });
  if (!needed)
    return mlir::success();
  mlir::RewritePatternSet patterns(module.getContext());
  mlir::populateNVVMToLLVMConversionPatterns(patterns);
  mlir::ConversionTarget target(*module.getContext());
  target.addLegalDialect<mlir::LLVM::LLVMDialect>();
  return applyPartialConversion(module, target, std::move(patterns));
}

/// Collects errors instead of printing them.
class Diagnostics {
public:
  explicit Diagnostics(mlir::MLIRContext *context)
      : handler(context, [this](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
            return mlir::failure();
          raw_string_ostream os(text);
          os << (text.empty() ? "" : "; ");
          if (!isa<mlir::UnknownLoc>(diagnostic.getLocation()))
            os << diagnostic.getLocation() << ": ";
          os << diagnostic;
          return mlir::success();
        }) {}

  Error error(StringRef otherwise) const {
    return textError("GPU kernel: " + (text.empty() ? otherwise : text));
  }

  /// An error of a later stage, with what MLIR said.
  Error with(Error error) const {
    return text.empty() ? std::move(error)
                        : textError(toString(std::move(error)) + ": " + text);
  }

private:
  std::string text;
  mlir::ScopedDiagnosticHandler handler;
};

/// libdevice is no part of this compiler, and a GPU has no libm.
Error checkDeclarations(const llvm::Module &module) {
  for (const Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic())
      return textError("internal error: a GPU kernel calls " +
                       function.getName() + ", which it must not");
  return Error::success();
}

Expected<std::string> emitChecked(const IRModule &ir,
                                  const TargetInfo &target) {
  if (Error error = checkDeclarations(*ir.module))
    return std::move(error);
  return emitAssembly(ir, target);
}

/// From what lowerGpuModule() made to what is translated to LLVM IR.
mlir::LogicalResult prepareForPTX(mlir::ModuleOp module) {
  if (mlir::failed(lowerToInlinePTX(module)))
    return mlir::failure();
  // The other kinds make ptxas hold back its optimisations.
  addDebugLines(module, mlir::LLVM::DIEmissionKind::DebugDirectivesOnly);
  return mlir::success();
}

mlir::LogicalResult lowerToPTX(mlir::ModuleOp module, const TargetInfo &target,
                               const LowerOptions &options,
                               std::vector<LaunchInfo> *launches) {
  return mlir::success(
      mlir::succeeded(lowerGpuModule(module, target, options, launches)) &&
      mlir::succeeded(prepareForPTX(module)));
}

/// What nvJitLink does not do, the driver will: it may be newer.
Expected<std::string> cubinIfPossible(StringRef ptx, const TargetInfo &target,
                                      ObjectCache &cache) {
  if (cubinLinkerVersion().empty())
    return "";
  Expected<std::string> cubin = cachedCubin(ptx, target, cache);
  if (cubin)
    return cubin;
  consumeError(cubin.takeError());
  return "";
}

std::string print(mlir::ModuleOp module) {
  std::string text;
  raw_string_ostream os(text);
  module.print(os, mlir::OpPrintingFlags().enableDebugInfo(
                       /*enable=*/true, /*prettyForm=*/false));
  return text;
}

} // namespace

const KernelLowering gpuLowering = {registerGpuDialects, lowerToPTX, nullptr,
                                    emitChecked, cubinIfPossible};

Expected<std::string> emitPTX(mlir::ModuleOp module, const TargetInfo &target,
                              std::string *text) {
  if (mlir::failed(prepareForPTX(module)))
    return textError("internal error: an op has no inline PTX");
  Expected<IRModule> ir = translateToIR(module);
  if (!ir)
    return ir.takeError();
  if (Error error = optimize(*ir, target))
    return std::move(error);
  if (text)
    *text = printIR(*ir);
  return emitChecked(*ir, target);
}

Expected<std::string> cachedCubin(StringRef ptx, const TargetInfo &target,
                                  ObjectCache &cache) {
  constexpr StringRef kKind = "cubin";
  std::string key = hashHex({ptx, target.key(), cubinLinkerVersion()});
  if (std::optional<std::string> cubin = cache.get(kKind, key))
    return std::move(*cubin);
  Expected<std::string> cubin = linkCubin(ptx, target);
  if (cubin)
    cache.put(kKind, key, *cubin);
  return cubin;
}

Expected<GpuCode> compileGpuKernel(mlir::ModuleOp module,
                                   const GpuCompileOptions &options) {
  Diagnostics diagnostics(module.getContext());
  auto dump = [&](StringRef stage, StringRef text) {
    if (options.dump)
      options.dump(stage, text);
  };
  GpuCode code;
  if (options.dump)
    dump("loops", print(module));
  if (mlir::failed(lowerGpuModule(module, options.target, options.lower,
                                  &code.launches)))
    return diagnostics.error("it cannot be lowered");
  if (options.dump)
    dump("nvvm", print(module));
  std::string ir;
  Expected<std::string> ptx =
      emitPTX(module, options.target, options.dump ? &ir : nullptr);
  if (!ptx)
    return diagnostics.with(ptx.takeError());
  code.ptx = std::move(*ptx);
  dump("llvm", ir);
  dump("ptx", code.ptx);
  if (!options.cubin || cubinLinkerVersion().empty())
    return code;
  Expected<std::string> cubin =
      cachedCubin(code.ptx, options.target,
                  options.cache ? *options.cache : ObjectCache::instance());
  if (!cubin)
    return cubin.takeError();
  code.cubin = std::move(*cubin);
  return code;
}

} // namespace tessera::lowering
