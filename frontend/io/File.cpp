// Files by POSIX calls, since the standard streams report neither causes of
// errors nor whether data reached the disk.
#include "frontend/io/File.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace tessera::io {
namespace {

[[noreturn]] void failed(const std::string &file, const char *action,
                         int error) {
  throw FileError(file, std::string(action) + ": " + std::strerror(error));
}

class Descriptor {
public:
  explicit Descriptor(int number) : number(number) {}
  Descriptor(Descriptor &&other) : number(std::exchange(other.number, -1)) {}
  ~Descriptor() { close(); }

  int get() const { return number; }
  /// Returns false if the system reports that written data was lost.
  bool close() { return number < 0 || ::close(std::exchange(number, -1)) == 0; }

private:
  int number;
};

/// Calls read, write and their kin again when a signal interrupted them.
template <typename Call> ssize_t retry(Call call) {
  ssize_t result;
  do
    result = call();
  while (result < 0 && errno == EINTR);
  return result;
}

class FileSource final : public Source {
public:
  FileSource(std::string name, uint64_t size, Descriptor file)
      : Source(std::move(name), size), file(std::move(file)) {}

private:
  void readInside(uint64_t offset, void *to, size_t count) const override {
    auto *out = static_cast<char *>(to);
    while (count > 0) {
      ssize_t got = retry([&] {
        return ::pread(file.get(), out, std::min<size_t>(count, 1 << 30),
                       static_cast<off_t>(offset));
      });
      if (got < 0)
        failed(name(), "cannot read", errno);
      if (got == 0)
        throw FileError(name(), "the file became shorter while it was read");
      out += got;
      offset += static_cast<uint64_t>(got);
      count -= static_cast<size_t>(got);
    }
  }

  Descriptor file;
};

class MemorySource final : public Source {
public:
  MemorySource(std::string name, std::span<const std::byte> bytes)
      : Source(std::move(name), bytes.size()), bytes(bytes) {}
  MemorySource(std::string name, std::vector<std::byte> owned)
      : Source(std::move(name), owned.size()), owned(std::move(owned)),
        bytes(this->owned) {}

private:
  void readInside(uint64_t offset, void *to, size_t count) const override {
    if (count > 0)
      std::memcpy(to, bytes.data() + offset, count);
  }

  std::vector<std::byte> owned;
  std::span<const std::byte> bytes;
};

std::vector<std::byte> readToEnd(int file, const std::string &name) {
  std::vector<std::byte> bytes;
  size_t used = 0;
  while (true) {
    bytes.resize(std::max<size_t>(1 << 16, used * 2));
    ssize_t got = retry(
        [&] { return ::read(file, bytes.data() + used, bytes.size() - used); });
    if (got < 0)
      failed(name, "cannot read", errno);
    used += static_cast<size_t>(got);
    if (got == 0)
      break;
  }
  bytes.resize(used);
  return bytes;
}

void writeAll(int file, std::span<const std::byte> bytes,
              const std::string &name) {
  while (!bytes.empty()) {
    ssize_t written = retry([&] {
      return ::write(file, bytes.data(),
                     std::min<size_t>(bytes.size(), 1 << 30));
    });
    if (written < 0)
      failed(name, "cannot write", errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

/// A new file beside the target, removed again unless it was renamed.
struct TemporaryFile {
  std::string path;
  ~TemporaryFile() {
    if (!path.empty())
      ::unlink(path.c_str());
  }
};

/// Creates a file that did not exist, with the permissions that a new file
/// gets.
Descriptor createBeside(const std::filesystem::path &target,
                        std::string &path) {
  static std::atomic<unsigned> counter;
  while (true) {
    path = target.string() + "." + std::to_string(::getpid()) + "-" +
           std::to_string(counter++);
    Descriptor file(static_cast<int>(retry([&] {
      return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                    0666);
    })));
    if (file.get() >= 0 || errno != EEXIST)
      return file;
  }
}

void replaceFile(const std::filesystem::path &target,
                 std::span<const std::span<const std::byte>> pieces,
                 const std::string &name) {
  std::string path;
  Descriptor file = createBeside(target, path);
  if (file.get() < 0)
    failed(name, "cannot create", errno);
  TemporaryFile temporary{path};
  for (std::span<const std::byte> piece : pieces)
    writeAll(file.get(), piece, name);
  struct stat old;
  if (::stat(target.c_str(), &old) == 0 &&
      ::fchmod(file.get(), old.st_mode & 0777) != 0)
    failed(name, "cannot set the permissions", errno);
  // Without this a crash of the system could leave the new name with no
  // content.
  if (::fsync(file.get()) != 0 || !file.close())
    failed(name, "cannot write", errno);
  if (::rename(path.c_str(), target.c_str()) != 0)
    failed(name, "cannot replace", errno);
  temporary.path.clear();
}

} // namespace

void Source::read(uint64_t offset, void *to, size_t count) const {
  if (offset > sourceSize || count > sourceSize - offset)
    throw FileError(sourceName,
                    "the file ends too early: " + std::to_string(count) +
                        " bytes from byte " + std::to_string(offset) +
                        " on are needed, but it has " +
                        std::to_string(sourceSize));
  readInside(offset, to, count);
}

std::unique_ptr<Source> openFile(const std::filesystem::path &path) {
  std::string name = path.string();
  Descriptor file(static_cast<int>(
      retry([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); })));
  if (file.get() < 0)
    failed(name, "cannot open", errno);
  struct stat status;
  if (::fstat(file.get(), &status) != 0)
    failed(name, "cannot open", errno);
  if (S_ISDIR(status.st_mode))
    failed(name, "cannot open", EISDIR);
  if (S_ISREG(status.st_mode))
    return std::make_unique<FileSource>(
        name, static_cast<uint64_t>(status.st_size), std::move(file));
  return std::make_unique<MemorySource>(name, readToEnd(file.get(), name));
}

std::unique_ptr<Source> openMemory(std::span<const std::byte> bytes,
                                   std::string name) {
  return std::make_unique<MemorySource>(std::move(name), bytes);
}

void writeFile(const std::filesystem::path &path,
               std::span<const std::span<const std::byte>> pieces) {
  std::string name = path.string();
  std::error_code ignored;
  std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) &&
      !std::filesystem::is_regular_file(status)) {
    Descriptor file(static_cast<int>(
        retry([&] { return ::open(path.c_str(), O_WRONLY | O_CLOEXEC); })));
    if (file.get() < 0)
      failed(name, "cannot open", errno);
    for (std::span<const std::byte> piece : pieces)
      writeAll(file.get(), piece, name);
    if (!file.close())
      failed(name, "cannot write", errno);
    return;
  }
  // A symbolic link stays one: the file it names is what is replaced.
  std::filesystem::path target =
      std::filesystem::weakly_canonical(path, ignored);
  replaceFile(ignored ? path : target, pieces, name);
}

} // namespace tessera::io
