// The cache of compiled code: loaded objects in memory, objects and other blobs
// on disk.
#pragma once
#include "lowering/CodeGen/Jit.h"
#include "lowering/CodeGen/LowerToLLVM.h"
#include <list>
#include <mutex>
#include <optional>
#include <string>

namespace tessera::lowering {

/// Code that is loaded, and its launches in the order they must run. A plan has
/// none.
struct CompiledObject {
  std::vector<LaunchInfo> launches;
  std::shared_ptr<LoadedObject> code;
};

/// What the folder of a cache holds.
struct CacheUsage {
  int64_t files = 0;
  int64_t bytes = 0;
};

/// Two caches under the same keys. In memory there are at most 8,192 objects
/// that nobody else refers to, least recently used out first. On disk there is
/// one file a key; a file that is damaged, or of another version, counts as
/// missing and is written anew. Nothing here fails: a folder that cannot be
/// written means no disk cache. Thread-safe.
class ObjectCache {
public:
  /// The process's cache, in the folder that TESSERA_CACHE names ("0" or "off":
  /// none), else $XDG_CACHE_HOME/tessera, else
  /// ~/.cache/tessera.
  static ObjectCache &instance();

  /// A cache in `folder`; an empty string means no disk cache.
  explicit ObjectCache(std::string folder, size_t limit = 8192);

  /// The key of compiled code: hash of the caller's bytes, the target and the
  /// compiler, as 64 hexadecimal digits.
  static std::string keyFor(llvm::StringRef bytes, const TargetInfo &target);

  /// The bytes stored on disk under `kind` (a short file name) and `key` (any
  /// bytes), if they are there and whole. An entry of another compiler is never
  /// found.
  std::optional<std::string> get(llvm::StringRef kind, llvm::StringRef key);
  void put(llvm::StringRef kind, llvm::StringRef key, llvm::StringRef bytes);

  /// Loaded code under `key`, or null.
  std::shared_ptr<const CompiledObject> find(llvm::StringRef key);
  void insert(llvm::StringRef key,
              std::shared_ptr<const CompiledObject> object);

  /// Drops what nobody else refers to.
  void dropUnreferenced();

  const std::string &folder() const { return root; }
  CacheUsage usage() const;
  /// Removes every file of the cache.
  void clear();

private:
  struct Entry {
    std::string key;
    std::shared_ptr<const CompiledObject> object;
  };
  std::string pathOf(llvm::StringRef kind, llvm::StringRef key) const;
  std::list<Entry> evict();

  std::string root;
  size_t limit;
  std::mutex mutex;
  std::list<Entry> recent; ///< Most recently used first.
  llvm::StringMap<std::list<Entry>::iterator> table;
};

} // namespace tessera::lowering
