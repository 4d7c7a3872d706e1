// Objects as archives, and what they consist of.
#include "lowering/Aot/Object.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tessera::lowering {

Expected<std::string> sizeReport(StringRef bytes) {
  auto file =
      object::ObjectFile::createObjectFile(MemoryBufferRef(bytes, "object"));
  if (!file)
    return file.takeError();
  uint64_t code = 0, constants = 0, data = 0, lines = 0;
  for (const object::SectionRef &section : (*file)->sections()) {
    Expected<StringRef> name = section.getName();
    if (!name)
      return name.takeError();
    uint64_t size = section.getSize();
    if (section.isText())
      code += size;
    else if (name->starts_with(".rodata") ||
             name->starts_with(".data.rel.ro") ||
             name->starts_with(".eh_frame"))
      constants += size;
    else if (name->starts_with(".debug"))
      lines += size;
    else if (section.isData() || section.isBSS())
      data += size;
  }
  std::vector<std::pair<uint64_t, std::string>> functions;
  for (const object::ELFSymbolRef symbol :
       cast<object::ELFObjectFileBase>(**file).symbols()) {
    Expected<object::SymbolRef::Type> type = symbol.getType();
    Expected<StringRef> name = symbol.getName();
    if (!type || !name)
      return joinErrors(type.takeError(), name.takeError());
    if (*type == object::SymbolRef::ST_Function && symbol.getSize() > 0)
      functions.push_back({symbol.getSize(), name->str()});
  }
  llvm::sort(functions, std::greater<>());
  std::string text;
  raw_string_ostream os(text);
  auto line = [&](uint64_t size, StringRef what) {
    os << format("%10llu  ", static_cast<unsigned long long>(size)) << what
       << "\n";
  };
  line(code, "code");
  for (const auto &[size, name] : functions)
    line(size, "  " + name);
  line(constants, "constants, with weights and tables");
  line(data, "data");
  line(code + constants + data, "together");
  line(lines, "line tables, which are not loaded");
  return text;
}

Expected<std::string>
archiveOf(ArrayRef<std::pair<std::string, std::string>> objects) {
  std::vector<NewArchiveMember> members;
  for (const auto &[name, bytes] : objects)
    members.emplace_back(MemoryBufferRef(bytes, name));
  auto archive = writeArchiveToBuffer(members, SymtabWritingMode::NormalSymtab,
                                      object::Archive::K_GNU,
                                      /*Deterministic=*/true, /*Thin=*/false);
  if (!archive)
    return archive.takeError();
  return (*archive)->getBuffer().str();
}

} // namespace tessera::lowering
