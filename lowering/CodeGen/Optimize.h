// From a module of the LLVM dialect to optimised LLVM IR and to machine code,
// for one target.
#pragma once
#include "lowering/CodeGen/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"
#include <memory>
#include <string>

namespace llvm {
class Target;
}

namespace tessera::lowering {

/// An LLVM module with the context it lives in. LLVM's errors are recorded in
/// `diagnostics`, never printed.
struct IRModule {
  IRModule();

  std::unique_ptr<std::string> diagnostics;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

/// LLVM's backend for the target's architecture, ready to use.
llvm::Expected<const llvm::Target *> llvmTargetOf(const TargetInfo &target);

/// Translates a module of the LLVM dialect, whose context has the translations
/// registered.
llvm::Expected<IRModule> translateToIR(mlir::ModuleOp module);

/// Reads LLVM IR as text, the form that printIR() writes, and verifies it. The
/// error is a diagnostic with the text's name and the line.
llvm::Expected<IRModule> parseIR(llvm::StringRef text,
                                 llvm::StringRef name = "<string>");

/// Sets target, CPU and features on the module and its functions, and runs the
/// function passes. Vector code comes from the emitters, so the loop unroller
/// and both vectorisers stay off.
llvm::Error optimize(IRModule &ir, const TargetInfo &target);

/// Links a module of bitcode into another one.
llvm::Error linkInto(IRModule &ir, llvm::StringRef bitcode);

std::string printIR(const IRModule &ir);

/// Assembly text; leaves `ir` as it is.
llvm::Expected<std::string> emitAssembly(const IRModule &ir,
                                         const TargetInfo &target);

/// A relocatable ELF object (position-independent, small code model). Code
/// generation uses `ir` up. The object may refer to memcpy, memmove, memset and
/// what `isKnown` accepts; anything else, such as a scalar function of libm
/// that LLVM fell back to, is an internal error that names it.
llvm::Expected<std::string>
emitObject(IRModule ir, const TargetInfo &target,
           llvm::function_ref<bool(llvm::StringRef)> isKnown = nullptr,
           llvm::CodeGenOptLevel level = llvm::CodeGenOptLevel::Default);

} // namespace tessera::lowering
