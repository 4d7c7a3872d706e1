// Files with a checked header, replaced by rename; an LRU list in memory.
#include "lowering/CodeGen/ObjectCache.h"
#include "lowering/CodeGen/Hash.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;

namespace tessera::lowering {

namespace {

/// The start of each file; the content follows.
struct FileHeader {
  char magic[8] = {'T', 'S', 'R', 'c', 'a', 'c', 'h', 'e'};
  uint32_t version = 1;
  uint32_t headerSize = sizeof(FileHeader);
  uint64_t contentSize = 0;
  uint8_t hash[32] = {};
};

FileHeader headerFor(StringRef content) {
  FileHeader header;
  header.contentSize = content.size();
  auto hash = BLAKE3::hash(arrayRefFromStringRef(content));
  std::memcpy(header.hash, hash.data(), sizeof(header.hash));
  return header;
}

std::string folderFromEnvironment() {
  if (const char *folder = std::getenv("TESSERA_CACHE"); folder && *folder)
    return is_contained({"0", "off", "no", "false"}, StringRef(folder))
               ? ""
               : folder;
  SmallString<256> path;
  if (const char *base = std::getenv("XDG_CACHE_HOME"); base && *base == '/')
    path = base;
  else if (const char *home = std::getenv("HOME"); home && *home)
    sys::path::append(path, home, ".cache");
  else
    return "";
  sys::path::append(path, "tessera");
  return std::string(path);
}

bool writeAll(int file, const void *data, size_t size) {
  const char *bytes = static_cast<const char *>(data);
  while (size) {
    ssize_t written = ::write(file, bytes, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    bytes += written;
    size -= static_cast<size_t>(written);
  }
  return true;
}

/// Readers see the old file or the new one: the content goes to a file of its
/// own first.
bool replaceFile(const std::string &path, StringRef content) {
  static std::atomic<unsigned> counter{0};
  std::string temporary = path + "." + std::to_string(getpid()) + "." +
                          std::to_string(counter++) + ".tmp";
  int file =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0)
    return false;
  FileHeader header = headerFor(content);
  bool written = writeAll(file, &header, sizeof(header)) &&
                 writeAll(file, content.data(), content.size());
  written = ::close(file) == 0 && written;
  if (written && std::rename(temporary.c_str(), path.c_str()) == 0)
    return true;
  ::unlink(temporary.c_str());
  return false;
}

void noteUnwritable(StringRef folder) {
  static std::once_flag once;
  std::call_once(once, [&] {
    errs() << "tessera: cannot write to the cache folder " << folder << "\n";
  });
}

/// True for a file that this cache wrote: the folder may be one that the user
/// keeps other things in.
bool isOurs(const std::string &path) {
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0)
    return false;
  char magic[sizeof(FileHeader::magic)];
  bool ours = ::read(file, magic, sizeof(magic)) == sizeof(magic) &&
              std::memcmp(magic, FileHeader().magic, sizeof(magic)) == 0;
  ::close(file);
  return ours;
}

std::vector<std::string> filesOfCache(const std::string &root) {
  std::vector<std::string> paths;
  if (root.empty())
    return paths;
  std::error_code error;
  sys::fs::recursive_directory_iterator it(root, error,
                                           /*follow_symlinks=*/false),
      end;
  for (; it != end && !error; it.increment(error))
    if (it->type() == sys::fs::file_type::regular_file && isOurs(it->path()))
      paths.push_back(it->path());
  return paths;
}

} // namespace

ObjectCache &ObjectCache::instance() {
  static ObjectCache *cache = new ObjectCache(folderFromEnvironment());
  return *cache;
}

ObjectCache::ObjectCache(std::string folder, size_t limit)
    : root(std::move(folder)), limit(limit) {}

std::string ObjectCache::keyFor(StringRef bytes, const TargetInfo &target) {
  return hashHex({bytes, target.key(), compilerVersion()});
}

std::string ObjectCache::pathOf(StringRef kind, StringRef key) const {
  std::string hash = hashHex({kind, key, compilerVersion()});
  SmallString<256> path(root);
  sys::path::append(path, kind, hash.substr(0, 2), hash.substr(2));
  return std::string(path);
}

std::optional<std::string> ObjectCache::get(StringRef kind, StringRef key) {
  if (root.empty())
    return std::nullopt;
  auto file = MemoryBuffer::getFile(pathOf(kind, key), /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!file || (*file)->getBufferSize() < sizeof(FileHeader))
    return std::nullopt;
  StringRef bytes = (*file)->getBuffer(),
            content = bytes.drop_front(sizeof(FileHeader));
  FileHeader expected = headerFor(content);
  if (std::memcmp(&expected, bytes.data(), sizeof(expected)) != 0)
    return std::nullopt;
  return content.str();
}

void ObjectCache::put(StringRef kind, StringRef key, StringRef bytes) {
  if (root.empty())
    return;
  std::string path = pathOf(kind, key);
  if (replaceFile(path, bytes))
    return;
  // The usual cause is that the folder is not there yet.
  std::error_code error = sys::fs::create_directories(
      sys::path::parent_path(path), /*IgnoreExisting=*/true,
      sys::fs::perms::owner_read | sys::fs::perms::owner_write |
          sys::fs::perms::owner_exe);
  if (error || !replaceFile(path, bytes))
    noteUnwritable(root);
}

std::shared_ptr<const CompiledObject> ObjectCache::find(StringRef key) {
  std::lock_guard<std::mutex> lock(mutex);
  auto it = table.find(key);
  if (it == table.end())
    return nullptr;
  recent.splice(recent.begin(), recent, it->second);
  return it->second->object;
}

/// Takes the least recently used objects that nobody else refers to out of the
/// list, until the limit holds. Looks at a few candidates only: while all are
/// in use there is nothing to gain from looking at all of them each time.
std::list<ObjectCache::Entry> ObjectCache::evict() {
  std::list<Entry> evicted;
  for (int tries = 0; tries < 64 && recent.size() > limit; ++tries) {
    auto last = std::prev(recent.end());
    if (last->object.use_count() > 1) {
      recent.splice(recent.begin(), recent, last);
      continue;
    }
    table.erase(last->key);
    evicted.splice(evicted.end(), recent, last);
  }
  return evicted;
}

void ObjectCache::insert(StringRef key,
                         std::shared_ptr<const CompiledObject> object) {
  // Unloading code takes the JIT's lock, so what is evicted is destroyed after
  // our own lock is released.
  std::list<Entry> evicted;
  std::lock_guard<std::mutex> lock(mutex);
  auto [it, isNew] = table.try_emplace(key);
  if (isNew)
    it->second = recent.insert(recent.begin(), {key.str(), std::move(object)});
  else
    std::swap(it->second->object, object);
  evicted = evict();
}

void ObjectCache::dropUnreferenced() {
  std::list<Entry> dropped;
  std::lock_guard<std::mutex> lock(mutex);
  for (auto it = recent.begin(); it != recent.end();) {
    auto current = it++;
    if (current->object.use_count() > 1)
      continue;
    table.erase(current->key);
    dropped.splice(dropped.end(), recent, current);
  }
}

CacheUsage ObjectCache::usage() const {
  CacheUsage usage;
  for (const std::string &path : filesOfCache(root)) {
    uint64_t size = 0;
    if (sys::fs::file_size(path, size))
      continue;
    ++usage.files;
    usage.bytes += static_cast<int64_t>(size);
  }
  return usage;
}

void ObjectCache::clear() {
  for (const std::string &path : filesOfCache(root))
    sys::fs::remove(path);
}

} // namespace tessera::lowering
