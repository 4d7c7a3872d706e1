// BLAKE3 over delimited parts; build ids of loaded libraries, read from their
// notes in memory.
#include "lowering/CodeGen/Hash.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/TargetParser/Host.h"
#include <elf.h>
#include <link.h>
#include <sys/stat.h>

using namespace llvm;

namespace tessera::lowering {

namespace {

struct LibrarySearch {
  uintptr_t address;
  std::string id;
};

/// The GNU build id among the notes of one segment, as hexadecimal digits, or
/// nothing.
std::string buildIdIn(const char *notes, size_t size) {
  while (size >= sizeof(ElfW(Nhdr))) {
    auto *note = reinterpret_cast<const ElfW(Nhdr) *>(notes);
    size_t nameSize = (note->n_namesz + 3) & ~size_t(3),
           contentSize = (note->n_descsz + 3) & ~size_t(3);
    const char *name = notes + sizeof(*note);
    if (note->n_type == NT_GNU_BUILD_ID &&
        StringRef(name, note->n_namesz) == StringRef("GNU", 4))
      return toHex(StringRef(name + nameSize, note->n_descsz));
    size_t total = sizeof(*note) + nameSize + contentSize;
    if (total > size)
      break;
    notes += total;
    size -= total;
  }
  return "";
}

int visitLibrary(dl_phdr_info *info, size_t, void *data) {
  auto &search = *static_cast<LibrarySearch *>(data);
  bool holdsAddress = false;
  std::string id;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &header = info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && search.address >= start &&
        search.address < start + header.p_memsz)
      holdsAddress = true;
    if (header.p_type == PT_NOTE && id.empty())
      id = buildIdIn(reinterpret_cast<const char *>(start), header.p_memsz);
  }
  if (!holdsAddress)
    return 0;
  if (id.empty()) {
    // Linked without a build id: the file's size and time of change stand in
    // for it.
    struct stat status = {};
    stat(*info->dlpi_name ? info->dlpi_name : "/proc/self/exe", &status);
    id = std::to_string(status.st_size) + "." +
         std::to_string(status.st_mtim.tv_sec) + "." +
         std::to_string(status.st_mtim.tv_nsec);
  }
  search.id = id;
  return 1;
}

template <typename Function> std::string libraryOf(Function *function) {
  LibrarySearch search{reinterpret_cast<uintptr_t>(function), ""};
  dl_iterate_phdr(visitLibrary, &search);
  return search.id;
}

} // namespace

std::string hashHex(ArrayRef<StringRef> parts) {
  BLAKE3 hasher;
  for (StringRef part : parts) {
    uint64_t size = part.size();
    hasher.update(ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(&size),
                                    sizeof(size)));
    hasher.update(part);
  }
  BLAKE3Result<> result = hasher.final();
  return toHex(result, /*LowerCase=*/true);
}

const std::string &compilerVersion() {
  static const std::string *version = new std::string(
      "tessera 0.1.0|LLVM " LLVM_VERSION_STRING "|" + libraryOf(&hashHex) +
      "|" + libraryOf(&sys::getHostCPUName) + "|" +
      libraryOf(&mlir::translateModuleToLLVMIR));
  return *version;
}

} // namespace tessera::lowering
