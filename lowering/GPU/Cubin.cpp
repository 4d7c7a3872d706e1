// nvJitLink by dlopen: its few functions are declared here, so that no CUDA
// header or library is needed to build.
#include "lowering/GPU/Cubin.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdlib>
#include <dlfcn.h>

using namespace llvm;

namespace tessera::lowering {

namespace {

/// A link in progress, and what its functions return: 0 if all is well.
using Handle = void *;
using Result = int;
constexpr int kInputPTX = 2;

struct Linker {
  Result (*create)(Handle *, uint32_t, const char **) = nullptr;
  Result (*destroy)(Handle *) = nullptr;
  Result (*addData)(Handle, int, const void *, size_t, const char *) = nullptr;
  Result (*complete)(Handle) = nullptr;
  Result (*cubinSize)(Handle, size_t *) = nullptr;
  Result (*cubin)(Handle, void *) = nullptr;
  Result (*errorLogSize)(Handle, size_t *) = nullptr;
  Result (*errorLog)(Handle, char *) = nullptr;
  Result (*getVersion)(unsigned *, unsigned *) = nullptr;
  std::string version; ///< Empty if the library is not usable.
};

/// Names to try, best first. The loader's own folders come before others, so
/// that LD_LIBRARY_PATH decides.
SmallVector<std::string> candidates() {
  constexpr const char *kNames[] = {"libnvJitLink.so.13", "libnvJitLink.so.12",
                                    "libnvJitLink.so"};
  SmallVector<std::string> folders = {""};
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *root = std::getenv(variable); root && *root)
      folders.push_back(root);
  folders.push_back("/usr/local/cuda");
  SmallVector<std::string> paths;
  for (const std::string &folder : folders)
    for (const char *name : kNames) {
      if (folder.empty()) {
        paths.push_back(name);
        continue;
      }
      for (const char *library : {"/lib64/", "/lib/"})
        paths.push_back(folder + library + name);
    }
  return paths;
}

/// The function of this name, which libraries of CUDA 12 also have with the
/// version it came in.
template <typename Function>
bool find(void *library, const char *name, Function *&function) {
  for (std::string symbol :
       {std::string(name), "__" + std::string(name) + "_12_0"})
    if (void *address = dlsym(library, symbol.c_str())) {
      function = reinterpret_cast<Function *>(address);
      return true;
    }
  return false;
}

bool findAll(void *library, Linker &l) {
  return find(library, "nvJitLinkCreate", l.create) &&
         find(library, "nvJitLinkDestroy", l.destroy) &&
         find(library, "nvJitLinkAddData", l.addData) &&
         find(library, "nvJitLinkComplete", l.complete) &&
         find(library, "nvJitLinkGetLinkedCubinSize", l.cubinSize) &&
         find(library, "nvJitLinkGetLinkedCubin", l.cubin) &&
         find(library, "nvJitLinkGetErrorLogSize", l.errorLogSize) &&
         find(library, "nvJitLinkGetErrorLog", l.errorLog);
}

Linker loadLinker() {
  for (const std::string &path : candidates()) {
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      continue;
    Linker linker;
    if (findAll(library, linker)) {
      // Libraries before CUDA 12.3 do not tell their version.
      unsigned major = 12, minor = 0;
      if (find(library, "nvJitLinkVersion", linker.getVersion))
        linker.getVersion(&major, &minor);
      linker.version = std::to_string(major) + "." + std::to_string(minor);
      return linker; // which stays loaded
    }
    dlclose(library);
  }
  return {};
}

const Linker &linker() {
  static const Linker *instance = new Linker(loadLinker());
  return *instance;
}

/// One link, ended in any case.
class Link {
public:
  explicit Link(ArrayRef<const char *> options) {
    result = linker().create(&handle, options.size(),
                             const_cast<const char **>(options.data()));
  }
  ~Link() {
    if (handle)
      linker().destroy(&handle);
  }
  Link(const Link &) = delete;

  /// Goes on if nothing has failed so far.
  template <typename... Types, typename... Args>
  Link &then(Result (*step)(Handle, Types...), Args... args) {
    if (result == 0)
      result = step(handle, args...);
    return *this;
  }

  bool failed() const { return result != 0; }

  std::string log() const {
    size_t size = 0;
    std::string text;
    if (handle && linker().errorLogSize(handle, &size) == 0 && size > 0) {
      text.resize(size);
      if (linker().errorLog(handle, text.data()) != 0)
        text.clear();
    }
    text = StringRef(text.c_str()).trim().str();
    return text.empty() ? "error " + std::to_string(result) : text;
  }

private:
  Handle handle = nullptr;
  Result result;
};

} // namespace

const std::string &cubinLinkerVersion() { return linker().version; }

Expected<std::string> linkCubin(StringRef ptx, const TargetInfo &target) {
  if (linker().version.empty())
    return createStringError(
        inconvertibleErrorCode(),
        "a cubin needs NVIDIA's nvJitLink library (libnvJitLink.so.12 or .13), "
        "which is not here: install the CUDA toolkit's nvJitLink, or set "
        "CUDA_HOME to where it is");
  std::string arch = "-arch=" + target.cpu, text = ptx.str();
  Link link({arch.c_str(), "-O3", "-lineinfo"});
  size_t size = 0;
  link.then(linker().addData, kInputPTX,
            static_cast<const void *>(text.c_str()), text.size() + 1, "kernel")
      .then(linker().complete)
      .then(linker().cubinSize, &size);
  std::string cubin(size, '\0');
  link.then(linker().cubin, static_cast<void *>(cubin.data()));
  if (link.failed())
    return createStringError(inconvertibleErrorCode(),
                             "internal error: nvJitLink " + linker().version +
                                 " does not take the code for " + target.cpu +
                                 ": " + link.log());
  return cubin;
}

} // namespace tessera::lowering
