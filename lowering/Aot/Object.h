// A program as one object file with a C function, which needs no library.
#ifndef TESSERA_LOWERING_AOT_OBJECT_H
#define TESSERA_LOWERING_AOT_OBJECT_H

#include "lowering/Aot/Interface.h"
#include "lowering/CodeGen/PlanEntry.h"
#include <functional>

namespace tessera::lowering {

/// The bytes of a weight, and where they begin in the weights file.
struct Weight {
  llvm::StringRef bytes;
  int64_t fileOffset = 0;
};

struct AotOptions {
  /// The C function's name, and the beginning of all other exported names.
  std::string name = "program";
  /// Where the program comes from, for the header's first line.
  std::string source;
  /// One or more, of one architecture; a call takes the best that its CPU can
  /// run.
  std::vector<TargetInfo> targets;
  /// Threads that compile kernels; 0 means one for each core.
  int threads = 0;
  bool fuse = true;
  /// Line tables with the user's lines.
  bool debugInfo = true;
  /// By argument. Those of weights that nothing updates become part of the
  /// object if `embedWeights`; the others are fields of the caller's struct.
  llvm::StringMap<Weight> weights;
  /// The bytes of the weights file.
  int64_t weightsFileBytes = 0;
  bool embedWeights = true;
  /// If set, is told how long each step took, in milliseconds.
  std::function<void(llvm::StringRef step, double ms)> timing;
};

/// A program compiled ahead of time.
struct AotProgram {
  Interface interface;
  /// Arguments that are no fields of the caller's struct.
  std::vector<bool> embedded;
  /// What a caller may choose for the symbolic dimensions.
  std::vector<runtime::SymbolInfo> symbols;
  int64_t arenaBytes = 0; ///< of a program without symbols
  int64_t embeddedBytes = 0;
  /// Of the program and of how it is compiled, as hexadecimal digits.
  std::string hash;
  IRModule code;
  TargetInfo machine; ///< what `code` is generated for
};

/// Compiles a module in any stage of a program up to the plan, which it is left
/// in. The module's names are its interface.
llvm::Expected<AotProgram> compileAhead(mlir::ModuleOp module,
                                        const AotOptions &options);

/// A page on what an object consists of: the bytes of code of each function,
/// of constants, and of line tables, which are not loaded.
llvm::Expected<std::string> sizeReport(llvm::StringRef object);

/// An archive (.a) of objects; each has a name.
llvm::Expected<std::string>
archiveOf(llvm::ArrayRef<std::pair<std::string, std::string>> objects);

} // namespace tessera::lowering

#endif
