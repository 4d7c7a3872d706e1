// ORC and JITLink, used directly: one session and one JITDylib for the process,
// one resource tracker an object.
#include "lowering/CodeGen/Jit.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/ObjectFileInterface.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unistd.h>

using namespace llvm;
using namespace llvm::orc;

namespace tessera::lowering {

/// The session. Made on first use and never destroyed, so that code may run
/// until the process ends.
struct JitState {
  std::unique_ptr<ExecutionSession> session;
  std::unique_ptr<ObjectLinkingLayer> layer;
  JITDylib *dylib = nullptr;
  /// Guards the table and every change of the session: an object that is being
  /// removed and one of the same id that is being loaded would otherwise define
  /// the same symbols.
  std::mutex mutex;
  StringMap<std::pair<LoadedObject *, std::weak_ptr<LoadedObject>>> objects;
  std::string errors;

  static Expected<JitState *> get();
  static Expected<std::unique_ptr<JitState>> create();
  Error define(ArrayRef<std::pair<StringRef, void *>> functions);
  std::shared_ptr<LoadedObject> find(StringRef id);
  Error link(LoadedObject &object, StringRef bytes);
  void unlink(LoadedObject &object);
};

struct LoadedObject::Link {
  std::string id;
  ResourceTrackerSP tracker;
};

Expected<std::unique_ptr<JitState>> JitState::create() {
  auto control = SelfExecutorProcessControl::Create(
      nullptr, std::make_unique<InPlaceTaskDispatcher>());
  if (!control)
    return control.takeError();
  auto state = std::make_unique<JitState>();
  state->session = std::make_unique<ExecutionSession>(std::move(*control));
  // Errors are reported here and again, less precisely, by the lookup that
  // failed.
  state->session->setErrorReporter([errors = &state->errors](Error error) {
    *errors += toString(std::move(error));
  });
  state->layer = std::make_unique<ObjectLinkingLayer>(*state->session);
  state->dylib = &state->session->createBareJITDylib("tessera");
  if (Error error =
          state->define({{"memcpy", reinterpret_cast<void *>(&std::memcpy)},
                         {"memmove", reinterpret_cast<void *>(&std::memmove)},
                         {"memset", reinterpret_cast<void *>(&std::memset)}}))
    return std::move(error);
  return state;
}

Error JitState::define(ArrayRef<std::pair<StringRef, void *>> functions) {
  SymbolMap symbols;
  for (auto [name, address] : functions)
    symbols[session->intern(name)] = {ExecutorAddr::fromPtr(address),
                                      JITSymbolFlags::Exported |
                                          JITSymbolFlags::Callable};
  return dylib->define(absoluteSymbols(std::move(symbols)));
}

Expected<JitState *> JitState::get() {
  static std::mutex creation;
  static JitState *state = nullptr;
  std::lock_guard<std::mutex> lock(creation);
  if (!state) {
    Expected<std::unique_ptr<JitState>> made = create();
    if (!made)
      return made.takeError();
    state = made->release();
  }
  return state;
}

std::shared_ptr<LoadedObject> JitState::find(StringRef id) {
  auto it = objects.find(id);
  return it == objects.end() ? nullptr : it->second.second.lock();
}

Error JitState::link(LoadedObject &object, StringRef bytes) {
  std::unique_ptr<MemoryBuffer> buffer =
      MemoryBuffer::getMemBufferCopy(bytes, object.link->id);
  auto interface = getObjectFileInterface(*session, buffer->getMemBufferRef());
  if (!interface)
    return interface.takeError();
  SymbolLookupSet wanted;
  for (const auto &[name, flags] : interface->SymbolFlags)
    if (flags.isExported())
      wanted.add(name);
  object.link->tracker = dylib->createResourceTracker();
  if (Error error = layer->add(object.link->tracker, std::move(buffer),
                               std::move(*interface)))
    return error;
  Expected<SymbolMap> found = session->lookup(
      {{dylib, JITDylibLookupFlags::MatchAllSymbols}}, std::move(wanted));
  if (!found)
    return found.takeError();
  for (const auto &[name, definition] : *found)
    object.symbols[*name] = definition.getAddress().toPtr<void *>();
  return Error::success();
}

void JitState::unlink(LoadedObject &object) {
  if (ResourceTrackerSP tracker = std::move(object.link->tracker))
    if (Error error = tracker->remove())
      consumeError(std::move(error));
}

/// For perf: one line for each function in /tmp/perf-PID.map, if
/// TESSERA_PERF_MAP is set. perf knows this file as it is.
static void writePerfMap(const LoadedObject &loaded, StringRef bytes) {
  static FILE *map = []() -> FILE * {
    const char *wanted = std::getenv("TESSERA_PERF_MAP");
    if (!wanted || !*wanted || StringRef(wanted) == "0")
      return nullptr;
    return std::fopen(
        ("/tmp/perf-" + std::to_string(getpid()) + ".map").c_str(), "a");
  }();
  if (!map)
    return;
  auto file =
      object::ObjectFile::createELFObjectFile(MemoryBufferRef(bytes, ""));
  if (!file) {
    consumeError(file.takeError());
    return;
  }
  for (const object::ELFSymbolRef symbol : (*file)->symbols()) {
    Expected<StringRef> name = symbol.getName();
    if (!name) {
      consumeError(name.takeError());
      continue;
    }
    if (void *address = symbol.getELFType() == ELF::STT_FUNC
                            ? loaded.lookup(*name)
                            : nullptr)
      std::fprintf(map, "%" PRIxPTR " %" PRIx64 " %s\n",
                   reinterpret_cast<uintptr_t>(address), symbol.getSize(),
                   name->str().c_str());
  }
  std::fflush(map);
}

LoadedObject::~LoadedObject() {
  Expected<JitState *> state = JitState::get();
  if (!state) {
    consumeError(state.takeError());
    return;
  }
  std::lock_guard<std::mutex> lock((*state)->mutex);
  (*state)->unlink(*this);
  auto it = (*state)->objects.find(link->id);
  if (it != (*state)->objects.end() && it->second.first == this)
    (*state)->objects.erase(it);
}

Error defineSymbols(ArrayRef<std::pair<StringRef, void *>> functions) {
  Expected<JitState *> state = JitState::get();
  if (!state)
    return state.takeError();
  std::lock_guard<std::mutex> lock((*state)->mutex);
  return (*state)->define(functions);
}

std::shared_ptr<LoadedObject> findLoadedObject(StringRef id) {
  Expected<JitState *> state = JitState::get();
  if (!state) {
    consumeError(state.takeError());
    return nullptr;
  }
  std::lock_guard<std::mutex> lock((*state)->mutex);
  return (*state)->find(id);
}

Expected<std::shared_ptr<LoadedObject>>
loadObject(StringRef bytes, StringRef id,
           std::vector<std::shared_ptr<LoadedObject>> dependencies) {
  Expected<JitState *> got = JitState::get();
  if (!got)
    return got.takeError();
  JitState &state = **got;
  // Declared before the lock: if loading fails, its destructor takes the same
  // mutex.
  std::shared_ptr<LoadedObject> object;
  std::lock_guard<std::mutex> lock(state.mutex);
  if (std::shared_ptr<LoadedObject> loaded = state.find(id))
    return loaded;
  // The last reference to an object of this id may just have gone, with its
  // destructor waiting for the mutex.
  if (auto it = state.objects.find(id); it != state.objects.end())
    state.unlink(*it->second.first);
  object.reset(new LoadedObject);
  object->link = std::make_unique<LoadedObject::Link>();
  object->link->id = id.str();
  object->dependencies = std::move(dependencies);
  state.errors.clear();
  if (Error error = state.link(*object, bytes))
    return createStringError(inconvertibleErrorCode(),
                             "internal error: the JIT cannot load an object: " +
                                 toString(std::move(error)) +
                                 (state.errors.empty() ? "" : "; ") +
                                 state.errors);
  state.objects[id] = {object.get(), object};
  writePerfMap(*object, bytes);
  return object;
}

} // namespace tessera::lowering
