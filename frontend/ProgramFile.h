// Programs in files: what is written, and the names in it.
#pragma once

#include "frontend/CompiledProgram.h"
#include "lowering/Aot/Interface.h"
#include "tessera/Export.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include <set>

namespace tessera::detail {

/// A function that was traced for a file.
struct TracedFunction {
  /// What one argument of `main` is: an argument of the call, a variable, or
  /// something that the function captures.
  struct Input {
    Source::Kind kind;
    std::shared_ptr<Cell> cell; ///< of a variable
    int update;                 ///< which of the updates is its, or -1
    runtime::Storage bytes;     ///< of what is no argument
    bool isNumber = false;      ///< captured from C++
  };
  std::shared_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Input> inputs;
  size_t numResults = 0; ///< of the call; updates follow
};

void writeProgram(const ExportRequest &request, TracedFunction &traced,
                  std::source_location place);

/// Hands out names of which no two are the same, also where a `.` is a `_`.
class NameTable {
public:
  /// Whether the name was free.
  bool take(llvm::StringRef name);
  /// The name, or, if it is taken, the first free of `name_2`, `name_3`, ...
  std::string unique(llvm::StringRef name);

private:
  std::set<std::string> taken;
};

} // namespace tessera::detail
