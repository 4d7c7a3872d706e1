// Calls the system's compiler driver as a linker.
#include "tools/tessera/Link.h"
#include "tools/tessera/Program.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace tessera::tool {

static std::string findDriver() {
  if (const char *named = std::getenv("CC"); named && *named) {
    ErrorOr<std::string> path = sys::findProgramByName(named);
    if (!path || !sys::fs::can_execute(*path))
      fail("CC is '" + Twine(named) + "', which is no program");
    return *path;
  }
  for (StringRef name : {"cc", "clang", "gcc"})
    if (ErrorOr<std::string> path = sys::findProgramByName(name))
      return *path;
  fail("no C compiler was found to link with: install gcc or clang, or set CC. "
       "An object (--emit=obj) or an archive (--emit=lib) needs none");
}

/// The library of `main`, beside this program: in ../lib where it is installed
/// and where it is built.
static std::string findMain() {
  static int inThisProgram;
  SmallString<256> path(sys::fs::getMainExecutable(nullptr, &inThisProgram));
  sys::path::remove_filename(path);
  sys::path::append(path, "..", "lib", "libtessera-main.a");
  if (!sys::fs::exists(path))
    fail("the library of executables is missing: " + path);
  return path.str().str();
}

/// A file that is not there yet, beside `path`, so that it can be renamed to
/// it.
static std::string temporaryBeside(StringRef path, StringRef suffix) {
  SmallString<256> made;
  if (std::error_code error =
          sys::fs::createUniqueFile(path + "-%%%%%%" + suffix, made))
    fail("cannot write " + path + ": " + error.message());
  return made.str().str();
}

/// Where the linker writes, for an output of this path. A symbolic link stays
/// one; what is no file, such as a device, is written to and not replaced.
static std::string placeFor(StringRef path, bool &isFile) {
  SmallString<256> real;
  isFile = !sys::fs::exists(path) || sys::fs::is_regular_file(path);
  if (isFile)
    return sys::fs::real_path(path, real) ? path.str() : real.str().str();
  if (sys::fs::is_directory(path))
    fail("cannot write " + path + ": Is a directory");
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, real);
  sys::path::append(real, "tessera");
  return real.str().str();
}

void linkFile(StringRef path, StringRef object, bool isShared,
              StringRef programName) {
  std::string driver = findDriver();
  bool isFile;
  std::string place = placeFor(path, isFile);
  // Both are gone when the command ends, however it ends.
  std::string objectPath = temporaryBeside(place, ".o");
  FileRemover removeObject(objectPath);
  std::string linked = temporaryBeside(place, ".tmp");
  FileRemover removeLinked(linked);
  writeOutput(objectPath, object);
  SmallVector<std::string> words{driver, "-o", linked, objectPath};
  if (isShared)
    words.insert(words.end(), {"-shared", "-Wl,-z,defs", "-lc"});
  else
    words.insert(words.end(), {"-Wl,--defsym=tessera_main_program=" +
                                   programName.str() + "_program",
                               findMain()});
  SmallVector<StringRef> arguments(words.begin(), words.end());
  std::string message;
  int code = sys::ExecuteAndWait(driver, arguments, std::nullopt, {},
                                 /*SecondsToWait=*/300, 0, &message);
  if (code != 0)
    fail(driver + " failed to link " + path +
         (message.empty() ? "" : ": " + message));
  if (!isFile)
    return writeOutput(path, readInput(linked)->getBuffer());
  if (std::error_code error = sys::fs::rename(linked, place))
    fail("cannot write " + path + ": " + error.message());
  removeLinked.releaseFile();
}

} // namespace tessera::tool
