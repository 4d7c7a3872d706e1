// Compares the ops in test files with the dialect's own list.
#include "test/Numerics/driver/Coverage.h"
#include "mlir/Parser/Parser.h"
#include "test/Numerics/driver/Ops.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace tessera::numerics {

bool hasValue(RegisteredOperationName op) {
  // An input is not free of effects.
  return op.hasInterface<MemoryEffectOpInterface>() &&
         !op.hasTrait<OpTrait::IsTerminator>();
}

LogicalResult coversEveryOp(MLIRContext &context, StringRef folder) {
  llvm::DenseSet<OperationName> used;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator file(folder, error), end;
       file != end && !error; file.increment(error)) {
    if (llvm::sys::path::extension(file->path()) != ".mlir")
      continue;
    auto module = parseSourceFile<ModuleOp>(file->path(), &context);
    if (!module)
      return failure();
    module->walk([&](Operation *op) { used.insert(op->getName()); });
  }
  if (error) {
    llvm::errs() << folder << ": " << error.message() << "\n";
    return failure();
  }
  bool all = true;
  for (RegisteredOperationName op : registeredOps(context))
    if (hasValue(op) && !used.contains(op)) {
      llvm::errs() << op.getStringRef() << " is in no file of " << folder
                   << "\n";
      all = false;
    }
  return success(all);
}

} // namespace tessera::numerics
