// Kernels for the emulator: lowering, LLVM, the JIT.
#include "lowering/GPU/Sim/Compile.h"
#include "lowering/CodeGen/Hash.h"
#include "lowering/CodeGen/LowerSteps.h"
#include "lowering/CodeGen/Optimize.h"
#include "lowering/CodeGen/UserPlace.h"
#include "lowering/GPU/Sim/Launches.h"
#include "lowering/GPU/Sim/SimBuilder.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tessera::lowering {

namespace {

llvm::Error textError(const Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

/// Keeps diagnostics as "file:line: text".
class Diagnostics {
public:
  explicit Diagnostics(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          llvm::raw_string_ostream os(text);
          if (!text.empty())
            os << "\n";
          if (FileLineColLoc place = userPlace(diagnostic.getLocation()))
            os << place.getFilename().getValue() << ":" << place.getLine();
          else
            os << "?";
          os << ": " << diagnostic;
          for (Diagnostic &note : diagnostic.getNotes())
            os << "\n  " << note;
        }) {}

  llvm::Error error(StringRef otherwise) const {
    return textError(text.empty() ? otherwise : StringRef(text));
  }

private:
  std::string text;
  ScopedDiagnosticHandler handler;
};

/// Text that two modules share only if they give the same code: the module with
/// the places of its ops.
std::string contentOf(ModuleOp module, const SimOptions &options) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << options.checks << options.counters << "\n";
  module->print(os, OpPrintingFlags().enableDebugInfo());
  return text;
}

} // namespace

const tessera_sim_kernel *SimProgram::find(StringRef name) const {
  return static_cast<const tessera_sim_kernel *>(
      code->lookup((name + symbolSuffix).str()));
}

llvm::Expected<SimProgram> compileForSim(ModuleOp module, SimOptions options) {
  SimProgram program;
  std::string hash = hashHex({contentOf(module, options)});
  program.symbolSuffix = options.symbolSuffix = "_sim_" + hash.substr(0, 32);
  if ((program.code = findLoadedObject(hash)))
    return program;
  OwningOpRef<ModuleOp> copy(module.clone());
  Diagnostics diagnostics(module.getContext());
  if (failed(lowerToSim(*copy, options)) || failed(verify(*copy)))
    return diagnostics.error("internal error: a module does not lower for the "
                             "emulator");
  TargetInfo target = hostTarget();
  setTarget(*copy, target);
  llvm::Expected<IRModule> ir = translateToIR(*copy);
  if (!ir)
    return ir.takeError();
  if (llvm::Error error = optimize(*ir, target))
    return std::move(error);
  llvm::Expected<std::string> object =
      emitObject(std::move(*ir), target,
                 [](StringRef name) { return name.starts_with(kSimPrefix); });
  if (!object)
    return object.takeError();
  if (llvm::Error error = defineEmulator())
    return std::move(error);
  llvm::Expected<std::shared_ptr<LoadedObject>> loaded =
      loadObject(*object, hash);
  if (!loaded)
    return loaded.takeError();
  program.code = std::move(*loaded);
  return program;
}

llvm::Expected<SimProgram> compileForSim(StringRef text, StringRef file,
                                         const SimOptions &options) {
  DialectRegistry registry;
  registerSimDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module;
  {
    Diagnostics diagnostics(&context);
    module = parseSourceString<ModuleOp>(text, &context, file);
    if (!module)
      return diagnostics.error("the module does not parse");
  }
  return compileForSim(*module, options);
}

} // namespace tessera::lowering
