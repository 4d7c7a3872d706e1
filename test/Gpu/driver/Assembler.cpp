// Runs ptxas on temporary files and reads its report.
#include "test/Gpu/driver/Assembler.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace llvm;

namespace tessera::test {

namespace {

/// The number before `unit`, as in "32 registers"; 0 if there is none.
int64_t numberBefore(StringRef line, StringRef unit) {
  auto [before, after] = line.split(unit);
  if (before.size() == line.size())
    return 0;
  before = before.rtrim();
  int64_t value = 0;
  StringRef digits =
      before.drop_front(before.find_last_not_of("0123456789") + 1);
  return digits.getAsInteger(10, value) ? 0 : value;
}

Expected<std::string> temporary(StringRef suffix) {
  SmallString<128> path;
  if (std::error_code error =
          sys::fs::createTemporaryFile("kernel", suffix, path))
    return createStringError(error, "cannot make a temporary file");
  return std::string(path);
}

std::string textOf(StringRef path) {
  auto file = MemoryBuffer::getFile(path);
  return file ? (*file)->getBuffer().str() : "";
}

} // namespace

std::optional<std::string> findAssembler() {
  if (auto path = sys::findProgramByName("ptxas"))
    return *path;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH", ""}) {
    const char *root = *variable ? std::getenv(variable) : "/usr/local/cuda";
    if (!root)
      continue;
    SmallString<128> path(root);
    sys::path::append(path, "bin", "ptxas");
    if (sys::fs::can_execute(path))
      return std::string(path);
  }
  return std::nullopt;
}

std::vector<KernelUsage> parseUsage(StringRef report) {
  std::vector<KernelUsage> kernels;
  SmallVector<StringRef> lines;
  report.split(lines, '\n');
  for (StringRef line : lines) {
    if (line.contains("Compiling entry function '")) {
      StringRef name = line.split('\'').second.split('\'').first;
      kernels.emplace_back().name = name.str();
    }
    if (kernels.empty())
      continue;
    KernelUsage &kernel = kernels.back();
    if (line.contains("bytes spill stores")) {
      kernel.stack = numberBefore(line, " bytes stack frame");
      kernel.spillStores = numberBefore(line, " bytes spill stores");
      kernel.spillLoads = numberBefore(line, " bytes spill loads");
    }
    if (line.contains("Used ") && line.contains(" registers")) {
      kernel.registers = static_cast<int>(numberBefore(line, " registers"));
      kernel.shared = numberBefore(line, " bytes smem");
    }
  }
  return kernels;
}

Expected<std::vector<KernelUsage>> assemblePtx(StringRef ptx, StringRef arch) {
  std::optional<std::string> assembler = findAssembler();
  if (!assembler)
    return createStringError("ptxas is not on this machine");
  Expected<std::string> input = temporary("ptx"), output = temporary("cubin"),
                        report = temporary("txt");
  if (!input || !output || !report)
    return joinErrors(joinErrors(input.takeError(), output.takeError()),
                      report.takeError());
  FileRemover removeInput(*input), removeOutput(*output), removeReport(*report);
  {
    std::error_code error;
    raw_fd_ostream os(*input, error);
    os << ptx;
  }
  std::string option = "-arch=" + arch.str();
  StringRef arguments[] = {*assembler,  option, "-O3", "-v",
                           "-lineinfo", *input, "-o",  *output};
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(*report),
                                          StringRef(*report)};
  std::string problem;
  int code =
      sys::ExecuteAndWait(*assembler, arguments, std::nullopt, redirects,
                          /*SecondsToWait=*/120, /*MemoryLimit=*/0, &problem);
  if (code != 0)
    return createStringError("ptxas " + arch + ": " + problem +
                             textOf(*report));
  return parseUsage(textOf(*report));
}

} // namespace tessera::test
