// Writes stages with locations, so that each file parses back to the same
// program.
#include "lowering/Dump.h"
#include "lowering/CodeGen/UserPlace.h"
#include "runtime/FileUtils.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include <atomic>

using namespace mlir;

namespace tessera::lowering {

static void report(const std::string &what) {
  static std::atomic<bool> reported = false;
  if (!reported.exchange(true))
    llvm::errs() << "tessera: warning: dump: " << what << "\n";
}

Dump::Dump(std::string root, Location place) {
  if (root.empty())
    return;
  static std::atomic<int> count = 0;
  FileLineColLoc file = userPlace(place);
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

static std::string fileName(Stage stage, StringRef kernel) {
  static constexpr StringRef kEnds[] = {".mlir", ".mlir", ".mlir", ".mlir",
                                        ".mlir", ".ll",   ".s"};
  int number = static_cast<int>(stage);
  return (Twine(number) + "-" + (kernel.empty() ? nameOf(stage) : kernel) +
          kEnds[number])
      .str();
}

void Dump::write(Stage stage, StringRef kernel, StringRef text) {
  if (!enabled())
    return;
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, fileName(stage, kernel));
  try {
    runtime::writeFileAtomic(path.str().str(),
                             std::string_view(text.data(), text.size()));
  } catch (const std::exception &error) {
    report(error.what());
  }
}

} // namespace tessera::lowering
