// The process-wide JIT: links objects into memory and finds their functions.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <vector>

namespace tessera::lowering {

/// An object that is linked into this process. Its code lives as long as a
/// reference to it; so do the objects that it calls into. Thread-safe.
class LoadedObject {
public:
  ~LoadedObject();
  LoadedObject(const LoadedObject &) = delete;

  /// The address of an exported function, or null if the object has none of
  /// that name.
  void *lookup(llvm::StringRef name) const { return symbols.lookup(name); }

private:
  friend struct JitState;
  friend llvm::Expected<std::shared_ptr<LoadedObject>>
      loadObject(llvm::StringRef, llvm::StringRef,
                 std::vector<std::shared_ptr<LoadedObject>>);
  LoadedObject() = default;

  struct Link;
  std::unique_ptr<Link> link;
  llvm::StringMap<void *> symbols;
  std::vector<std::shared_ptr<LoadedObject>> dependencies;
};

/// Links the ELF object in `bytes`. If an object with this `id` is loaded
/// already, that one is returned: an id must stand for its content, and
/// exported symbols of different ids must differ. Symbols that the object does
/// not define are memcpy, memmove, memset, of defineSymbols() or exported by
/// one of the `dependencies`.
llvm::Expected<std::shared_ptr<LoadedObject>>
loadObject(llvm::StringRef bytes, llvm::StringRef id,
           std::vector<std::shared_ptr<LoadedObject>> dependencies = {});

/// Functions of this process that objects may call from now on. A name can be
/// defined once.
llvm::Error
defineSymbols(llvm::ArrayRef<std::pair<llvm::StringRef, void *>> functions);

/// The object that loadObject() loaded under `id` if it is still in memory,
/// else null.
std::shared_ptr<LoadedObject> findLoadedObject(llvm::StringRef id);

} // namespace tessera::lowering
