// Reading and writing of whole files by POSIX calls.
#include "runtime/FileUtils.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace tessera::runtime {

namespace {

[[noreturn]] void fail(const char *doing, const std::string &path, int error) {
  throw std::system_error(error, std::generic_category(),
                          std::string(doing) + " " + path);
}

struct FileDescriptor {
  int fd;
  explicit FileDescriptor(int fd) : fd(fd) {}
  FileDescriptor(const FileDescriptor &) = delete;
  FileDescriptor &operator=(const FileDescriptor &) = delete;
  ~FileDescriptor() {
    if (fd >= 0)
      ::close(fd);
  }
  // Closes it now. Some file systems report a full disk only here.
  int close() {
    int result = ::close(fd);
    fd = -1;
    return result;
  }
};

// A name in the folder of `path` that no other thread or process uses.
std::string temporaryName(const std::string &path) {
  static std::atomic<unsigned> counter{0};
  size_t slash = path.rfind('/');
  std::string folder =
      slash == std::string::npos ? "" : path.substr(0, slash + 1);
  return folder + ".tessera-" + std::to_string(::getpid()) + "-" +
         std::to_string(counter++) + ".tmp";
}

// Writes all bytes; the error, or 0.
int writeAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return errno;
    bytes.remove_prefix(size_t(written));
  }
  return 0;
}

} // namespace

std::string readFile(const std::string &path, size_t maxBytes) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd < 0)
    fail("cannot open", path, errno);
  struct stat info;
  if (::fstat(file.fd, &info) != 0)
    fail("cannot read", path, errno);
  if (S_ISDIR(info.st_mode))
    fail("cannot read", path, EISDIR);
  if (S_ISREG(info.st_mode) && size_t(info.st_size) > maxBytes)
    fail("cannot read", path, EFBIG);

  // The size is only a hint: a pipe has none, and a file may grow meanwhile.
  // The byte too many lets the read that finds the end happen without growing.
  constexpr size_t kChunk = 64 << 10;
  std::string bytes;
  bytes.resize(S_ISREG(info.st_mode) ? size_t(info.st_size) + 1 : kChunk);
  size_t size = 0;
  while (true) {
    if (size == bytes.size())
      bytes.resize(size + kChunk);
    ssize_t got = ::read(file.fd, &bytes[size], bytes.size() - size);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      fail("cannot read", path, errno);
    if (got == 0)
      break;
    size += size_t(got);
    if (size > maxBytes)
      fail("cannot read", path, EFBIG);
  }
  bytes.resize(size);
  return bytes;
}

// A device or a pipe, which a rename would replace by a file. A folder is none:
// there the rename fails.
static bool isStream(const std::string &path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) &&
         !S_ISDIR(info.st_mode);
}

static void writeStream(const std::string &path, std::string_view bytes) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.fd < 0)
    fail("cannot write", path, errno);
  int error = writeAll(file.fd, bytes);
  if (file.close() != 0 && !error)
    error = errno;
  if (error)
    fail("cannot write", path, error);
}

void writeFileAtomic(const std::string &path, std::string_view bytes) {
  if (isStream(path))
    return writeStream(path, bytes);
  std::string temporary = temporaryName(path);
  // A leftover of a process that died under the same number may be replaced.
  ::unlink(temporary.c_str());
  FileDescriptor file(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.fd < 0)
    fail("cannot write", path, errno);
  int error = writeAll(file.fd, bytes);
  if (file.close() != 0 && !error)
    error = errno;
  if (!error && std::rename(temporary.c_str(), path.c_str()) != 0)
    error = errno;
  if (error) {
    ::unlink(temporary.c_str());
    fail("cannot write", path, error);
  }
}

} // namespace tessera::runtime
