// The cache of compiled programs, and how a slice is run.
#include "frontend/Program.h"

#include "frontend/Devices.h"
#include "frontend/Recording.h"
#include "frontend/io/Npy.h"
#include "lowering/CodeGen/GpuTarget.h"
#include "lowering/CodeGen/ObjectCache.h"
#include "lowering/CodeGen/Target.h"
#include "lowering/Compiler.h"
#include "lowering/GPU/Sim/Launches.h"
#include "lowering/Reference/Interpreter.h"
#include "runtime/Allocator.h"
#include "runtime/Environment.h"
#include "runtime/ThreadPool.h"
#include "runtime/cuda/Allocator.h"
#include "runtime/sim/Session.h"
#include "tessera/Memory.h"

#include <atomic>
#include <filesystem>
#include <unordered_map>

using namespace mlir;

namespace tessera {
namespace detail {

// The cache

namespace {
struct HashKey {
  size_t operator()(const StructureKey &key) const {
    return llvm::hash_combine_range(key.begin(), key.end());
  }
};

/// Executables by structure; the least recently used go when it is full.
class Cache {
public:
  static Cache &get() {
    static Cache &cache = *new Cache;
    return cache;
  }

  std::shared_ptr<runtime::Executable> find(const StructureKey &key) {
    std::lock_guard guard(mutex);
    auto it = entries.find(key);
    if (it == entries.end())
      return nullptr;
    it->second.lastUse = ++clock;
    return it->second.executable;
  }

  void insert(StructureKey key,
              std::shared_ptr<runtime::Executable> executable) {
    std::lock_guard guard(mutex);
    if (entries.size() >= kMost)
      shrink();
    entries[std::move(key)] = {std::move(executable), ++clock};
  }

  void clear() {
    std::lock_guard guard(mutex);
    entries.clear();
  }

private:
  static constexpr size_t kMost = 2048;
  struct Entry {
    std::shared_ptr<runtime::Executable> executable;
    uint64_t lastUse;
  };

  /// Drops the older half, so that this is seldom done.
  void shrink() {
    std::vector<uint64_t> uses;
    for (auto &[key, entry] : entries)
      uses.push_back(entry.lastUse);
    auto middle = uses.begin() + ptrdiff_t(uses.size() / 2);
    std::nth_element(uses.begin(), middle, uses.end());
    uint64_t bound = *middle;
    std::erase_if(entries,
                  [&](auto &item) { return item.second.lastUse < bound; });
  }

  std::mutex mutex;
  std::unordered_map<StructureKey, Entry, HashKey> entries;
  uint64_t clock = 0;
};

std::atomic<size_t> compiles{0};
} // namespace

size_t compileCount() { return compiles; }

// Compiling

lowering::ProgramOptions programOptions(const Device &device,
                                        std::source_location place) {
  auto refuse = [&](const std::string &text) {
    throw ValueError(errorPlace(place), "compile", text);
  };
  lowering::ProgramOptions options;
  try {
    options.fuse = runtime::readFlag(runtime::Variable::Fuse).value_or(true);
    (void)runtime::readFlag(runtime::Variable::Tf32);
    (void)runtime::numThreads();
    (void)runtime::sim::checksFromEnvironment({});
    (void)runtime::sim::seedFromEnvironment();
  } catch (const std::invalid_argument &error) {
    refuse(error.what());
  }
  if (auto target = lowering::hostTargetOrError(); !target)
    refuse(llvm::toString(target.takeError()));
  checkDevice(device, "compile", place);
  if (device.kind() == runtime::DeviceKind::Sim)
    options.target =
        llvm::cantFail(lowering::emulatedTargetFor(device.architecture()));
  if (device.kind() == runtime::DeviceKind::Cuda) {
    options.gpu = device.ordinal();
    options.target = llvm::cantFail(lowering::gpuTargetRunningOn(
        runtime::cuda::Gpu::at(options.gpu).info().arch));
  }
  if (options.target && matmul_precision(place) == MatmulPrecision::tf32)
    lowering::allowTF32(*options.target);
  return options;
}

FailureOr<std::shared_ptr<runtime::Executable>>
compileOn(ModuleOp module, const lowering::ProgramOptions &options,
          std::string &error, std::source_location place) {
  try {
    return lowering::compile(module, options, error);
  } catch (...) {
    rethrowDeviceError("compile", place);
  }
}

static std::shared_ptr<runtime::Executable>
compileSlice(const Slice &slice, const Device &device,
             std::source_location place,
             const std::optional<std::string> &dump) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  std::string messages;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    return success();
  });
  OwningOpRef<ModuleOp> module = copySlice(slice, context);
  lowering::ProgramOptions options = programOptions(device, place);
  options.dump = dump.value_or("");
  std::string error;
  auto executable = compileOn(*module, options, error, place);
  if (failed(executable))
    throw InternalError(errorPlace(place), "compile", error + "\n" + messages);
  ++compiles;
  return *executable;
}

void dumpInputs(const runtime::Executable &executable,
                std::span<const runtime::Storage> inputs, const int64_t *dims) {
  const runtime::ExecutableInfo &info = executable.info();
  if (info.dumpFolder.empty())
    return;
  std::filesystem::path folder(info.dumpFolder);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const runtime::BufferInfo &input = info.inputs[i];
    std::string name =
        input.name.empty() ? "x" + std::to_string(i) : input.name;
    std::filesystem::path file = folder / (name + ".npy");
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored))
      return; // a later call
    runtime::Storage bytes = inputs[i].onHost();
    try {
      io::writeNpy(file,
                   {name, input.dtype, dims ? input.shapeAt(dims) : input.shape,
                    io::Bytes::borrow(bytes.data(), bytes.bytes())});
    } catch (const io::FileError &error) {
      llvm::errs() << "tessera: warning: dump: " << error.what() << "\n";
      return;
    }
  }
}

std::shared_ptr<runtime::Executable>
compileSymbolic(ModuleOp module, const Device &device,
                std::source_location place) {
  std::string error;
  auto executable =
      compileOn(module, programOptions(device, place), error, place);
  if (failed(executable))
    throw TraceError(errorPlace(place), "jit", error);
  ++compiles;
  return *executable;
}

std::shared_ptr<runtime::Executable> executableFor(Trace &trace,
                                                   const Slice &slice,
                                                   const Device &device,
                                                   std::source_location place) {
  std::optional<std::string> dump =
      runtime::readVariable(runtime::Variable::Dump);
  if (dump)
    return compileSlice(slice, device, place, dump);
  StructureKey key = makeKey(trace, slice);
  if (device != Device()) {
    for (char c : device.str())
      key.push_back(uint64_t(c));
    key.push_back(uint64_t(matmul_precision(place)));
  }
  if (auto known = Cache::get().find(key))
    return known;
  auto executable = compileSlice(slice, device, place, {});
  Cache::get().insert(std::move(key), executable);
  return executable;
}

// Running

static std::vector<runtime::Storage>
interpret(const Slice &slice, llvm::ArrayRef<runtime::Storage> inputs,
          std::source_location place) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  std::string messages;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    return success();
  });
  OwningOpRef<ModuleOp> module = copySlice(slice, context);
  std::vector<lowering::TensorBytes> bytes;
  for (const runtime::Storage &input : inputs) {
    auto *data = static_cast<const uint8_t *>(input.data());
    bytes.emplace_back(data, data + input.bytes());
  }
  auto results =
      lowering::interpret(*module->getOps<func::FuncOp>().begin(), bytes);
  if (failed(results))
    throw InternalError(errorPlace(place), "interpret", messages);
  std::vector<runtime::Storage> outputs;
  for (const lowering::TensorBytes &result : *results) {
    outputs.push_back(runtime::Storage::allocate(result.size()));
    if (!result.empty())
      std::memcpy(outputs.back().data(), result.data(), result.size());
  }
  return outputs;
}

std::vector<runtime::Storage> run(Trace &trace, const Slice &slice,
                                  std::vector<runtime::Storage> inputs,
                                  const Device &device, const char *what,
                                  std::source_location place) {
  try {
    if (isInterpreted(device))
      return interpret(slice, inputs, place);
    auto executable = executableFor(trace, slice, device, place);
    std::vector<runtime::Storage> outputs(slice.outputs.size());
    dumpInputs(*executable, inputs);
    runtime::Status status = executable->run(inputs, outputs);
    if (!status.ok())
      throw InternalError(errorPlace(place), what,
                          "the compiled program failed with code " +
                              std::to_string(status.code));
    return outputs;
  } catch (const std::length_error &) {
    throw OutOfMemory(errorPlace(place), what, "out of memory");
  } catch (...) {
    rethrowDeviceError(what, place);
  }
}

} // namespace detail

void clear_cache() {
  detail::Cache::get().clear();
  lowering::ObjectCache::instance().dropUnreferenced();
}

MemoryStats memory_stats(const Device &device, std::source_location place) {
  detail::checkDevice(device, "memory_stats", place);
  runtime::AllocatorStats stats =
      device.isHostMemory()
          ? runtime::Allocator::host().stats()
          : runtime::cuda::Gpu::at(device.ordinal()).allocator().stats();
  return {stats.bytesInUse, stats.bytesPeak, stats.bytesCached,
          stats.allocations, stats.hits};
}

} // namespace tessera
