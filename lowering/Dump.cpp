// Writes stages with locations, so that each file parses back to the same
// program.
#include "lowering/Dump.h"
#include "runtime/FileUtils.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include <atomic>

using namespace mlir;

namespace tessera::lowering {

/// The innermost file and line of a location.
static FileLineColLoc fileOf(Location loc) {
  if (auto file = dyn_cast<FileLineColLoc>(loc))
    return file;
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return fileOf(call.getCaller());
  if (auto name = dyn_cast<NameLoc>(loc))
    return fileOf(name.getChildLoc());
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (FileLineColLoc file = fileOf(part))
        return file;
  return {};
}

static void report(const std::string &what) {
  static std::atomic<bool> reported = false;
  if (!reported.exchange(true))
    llvm::errs() << "tessera: warning: dump: " << what << "\n";
}

Dump::Dump(std::string root, Location place) {
  if (root.empty())
    return;
  static std::atomic<int> count = 0;
  FileLineColLoc file = fileOf(place);
  std::string name = "program";
  if (file)
    name = (llvm::sys::path::stem(file.getFilename().strref()) + "-" +
            Twine(file.getLine()))
               .str();
  std::string numbered;
  llvm::raw_string_ostream(numbered) << llvm::format("%03d-", count++) << name;
  llvm::SmallString<128> path(root);
  llvm::sys::path::append(path, numbered);
  if (std::error_code error = llvm::sys::fs::create_directories(path))
    report(path.str().str() + ": " + error.message());
  else
    folder = path.str();
}

void Dump::write(const std::string &name, StringRef text) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  try {
    runtime::writeFileAtomic(path.str().str(),
                             std::string_view(text.data(), text.size()));
  } catch (const std::exception &error) {
    report(error.what());
  }
}

void Dump::module(StringRef name, ModuleOp module) {
  if (!enabled())
    return;
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out,
               OpPrintingFlags().enableDebugInfo(true, /*prettyForm=*/false));
  write(name.str(), text);
}

void Dump::kernel(const KernelJob &job, DumpStage stage, StringRef text) {
  switch (stage) {
  case DumpStage::Loops:
    return write("4-" + job.name + ".mlir", text);
  case DumpStage::LLVM:
    return write("5-" + job.name + ".ll", text);
  case DumpStage::Code:
    return write("6-" + job.name + ".s", text);
  }
}

} // namespace tessera::lowering
