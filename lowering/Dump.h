// Every stage of a compilation as files in a folder.
#ifndef TESSERA_LOWERING_DUMP_H
#define TESSERA_LOWERING_DUMP_H

#include "lowering/CodeGen/CompileKernels.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace tessera::lowering {

/// One compilation's folder `ROOT/NNN-file-line/`, numbered in the order of the
/// compilations of this process. Files that cannot be written are reported once
/// on stderr; the compilation goes on.
class Dump {
public:
  /// `place` names the folder: the user's file and line. Nothing is written
  /// under an empty root.
  Dump(std::string root, mlir::Location place);

  bool enabled() const { return !folder.empty(); }
  void module(llvm::StringRef name, mlir::ModuleOp module);
  void kernel(const KernelJob &job, DumpStage stage, llvm::StringRef text);

private:
  void write(const std::string &name, llvm::StringRef text);

  std::string folder;
};

} // namespace tessera::lowering

#endif
