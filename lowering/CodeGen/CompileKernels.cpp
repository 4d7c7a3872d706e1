// Kernel jobs: memory cache, disk cache, then a compilation on one of several
// threads.
#include "lowering/CodeGen/CompileKernels.h"
#include "lowering/CodeGen/DebugLines.h"
#include "lowering/CodeGen/SourceDiagnostics.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/DataExtractor.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

using namespace llvm;

namespace tessera::lowering {

namespace {

constexpr StringRef kKind = "kernel";

Error textError(const Twine &text) {
  return createStringError(inconvertibleErrorCode(), text);
}

std::string suffixOfKey(StringRef cacheKey) {
  return ("_" + cacheKey.take_front(32)).str();
}

/// Launches and object as one string; the cache checks that it comes back
/// unchanged.
std::string encode(const KernelObject &object) {
  std::string bytes;
  auto number = [&](int64_t value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
  };
  auto text = [&](StringRef value) {
    number(static_cast<int64_t>(value.size()));
    bytes += value;
  };
  number(static_cast<int64_t>(object.launches.size()));
  for (const LaunchInfo &launch : object.launches) {
    text(launch.name);
    text(launch.symbol);
    number(launch.tiles);
    number(launch.buffers);
    number(launch.workspaceBytes);
    number(launch.takesDims);
    number(launch.threads);
    number(launch.sharedBytes);
    for (const auto *terms : {&launch.tileTerms, &launch.workspaceTerms}) {
      number(static_cast<int64_t>(terms->size()));
      for (const runtime::SizeFormula::Term &term : *terms)
        for (int64_t value : {term.symbol, term.times, term.coefficient,
                              term.plus, term.divisor})
          number(value);
    }
  }
  text(object.bytes);
  return bytes;
}

std::optional<KernelObject> decode(StringRef bytes) {
  DataExtractor data(bytes, /*IsLittleEndian=*/true, /*AddressSize=*/8);
  DataExtractor::Cursor at(0);
  auto number = [&] { return static_cast<int64_t>(data.getU64(at)); };
  auto text = [&] {
    uint64_t size = data.getU64(at);
    return data.getBytes(at, size).str();
  };
  KernelObject object;
  int64_t count = number();
  for (int64_t i = 0; i < count && at; ++i) {
    LaunchInfo &launch = object.launches.emplace_back();
    launch.name = text();
    launch.symbol = text();
    launch.tiles = number();
    launch.buffers = number();
    launch.workspaceBytes = number();
    launch.takesDims = number();
    launch.threads = number();
    launch.sharedBytes = number();
    for (auto *terms : {&launch.tileTerms, &launch.workspaceTerms}) {
      int64_t left = number();
      for (; left > 0 && at; --left) {
        runtime::SizeFormula::Term &term = terms->emplace_back();
        for (int64_t *value : {&term.symbol, &term.times, &term.coefficient,
                               &term.plus, &term.divisor})
          *value = number();
      }
    }
  }
  object.bytes = text();
  if (Error error = at.takeError()) {
    consumeError(std::move(error));
    return std::nullopt;
  }
  return object;
}

const mlir::DialectRegistry &dialectsOf(const KernelLowering &lowering) {
  static std::mutex mutex;
  static std::map<const KernelLowering *, mlir::DialectRegistry> known;
  std::lock_guard<std::mutex> lock(mutex);
  auto [it, isNew] = known.try_emplace(&lowering);
  if (isNew)
    lowering.registerDialects(it->second);
  return it->second;
}

/// One thread's means: a context of its own that lives for one call of
/// compileKernels(). What it uniques is then freed, and threads do not share a
/// lock.
class Worker {
public:
  explicit Worker(const KernelCompileOptions &options)
      : options(options), context(dialectsOf(*options.lowering),
                                  mlir::MLIRContext::Threading::DISABLED) {
    context.getDiagEngine().registerHandler(
        [this](mlir::Diagnostic &diagnostic) { record(diagnostic); });
  }

  using Observe = function_ref<void(DumpStage, StringRef)>;

  Expected<KernelObject> compile(const KernelJob &job, StringRef cacheKey,
                                 Observe observe) {
    Expected<mlir::OwningOpRef<mlir::ModuleOp>> module = build(job, cacheKey);
    if (!module)
      return module.takeError();
    return compile(**module, "kernel " + job.name, observe);
  }

  Expected<KernelBitcode> compileToBitcode(const KernelJob &job,
                                           StringRef cacheKey) {
    Expected<mlir::OwningOpRef<mlir::ModuleOp>> module = build(job, cacheKey);
    if (!module)
      return module.takeError();
    KernelBitcode kernel;
    Expected<IRModule> ir =
        lower(**module, "kernel " + job.name, kernel.launches);
    if (!ir)
      return ir.takeError();
    raw_string_ostream os(kernel.bytes);
    WriteBitcodeToFile(*ir->module, os, /*ShouldPreserveUseListOrder=*/true);
    return kernel;
  }

  /// From the text of a kernel module, which may be anybody's.
  Expected<IRModule> lowerText(MemoryBufferRef text) {
    std::string errors;
    mlir::OwningOpRef<mlir::ModuleOp> module;
    {
      SourceDiagnostics handler(context, text, errors);
      SourceMgr sources;
      sources.AddNewSourceBuffer(
          MemoryBuffer::getMemBufferCopy(text.getBuffer(),
                                         text.getBufferIdentifier()),
          SMLoc());
      module = mlir::parseSourceFile<mlir::ModuleOp>(
          sources, mlir::ParserConfig(&context));
    }
    if (!module)
      return textError(errors);
    diagnostics.clear();
    std::vector<LaunchInfo> launches;
    return lower(*module, text.getBufferIdentifier(), launches);
  }

private:
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> build(const KernelJob &job,
                                                    StringRef cacheKey) {
    diagnostics.clear();
    mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> module =
        job.build(context);
    if (mlir::failed(module) || !*module)
      return failure("kernel " + job.name, "the emitter failed");
    setSuffix(**module, suffixOfKey(cacheKey));
    return std::move(*module);
  }

  Expected<IRModule> lower(mlir::ModuleOp module, const Twine &name,
                           std::vector<LaunchInfo> &launches) {
    LowerOptions lower{options.expandMath, takeSuffix(module)};
    if (mlir::failed(
            options.lowering->lower(module, options.target, lower, &launches)))
      return failure(name, "it cannot be lowered");
    if (options.debugInfo)
      addDebugLines(module);
    Expected<IRModule> ir = translateToIR(module);
    if (!ir)
      return ir.takeError();
    if (Error error = optimize(*ir, options.target))
      return std::move(error);
    return ir;
  }

  Expected<KernelObject> compile(mlir::ModuleOp module, const Twine &name,
                                 Observe observe) {
    if (options.dump)
      observe(DumpStage::Loops, print(module));
    KernelObject object;
    Expected<IRModule> ir = lower(module, name, object.launches);
    if (!ir)
      return ir.takeError();
    if (options.dump) {
      observe(DumpStage::LLVM, printIR(*ir));
      Expected<std::string> assembly = emitAssembly(*ir, options.target);
      if (!assembly)
        return assembly.takeError();
      observe(DumpStage::Code, *assembly);
    }
    Expected<std::string> bytes =
        options.lowering->emit ? options.lowering->emit(*ir, options.target)
                               : emitObject(std::move(*ir), options.target,
                                            options.lowering->isKnown);
    if (!bytes)
      return bytes.takeError();
    object.bytes = std::move(*bytes);
    return object;
  }

  Error failure(const Twine &name, StringRef otherwise) {
    return textError("internal error: " + name + ": " +
                     (diagnostics.empty() ? otherwise : diagnostics));
  }

  // A kernel module carries the end of its exported names with it, so that its
  // text compiles to the same object.
  static constexpr StringRef kSuffix = "tessera.symbol_suffix";

  void setSuffix(mlir::ModuleOp module, StringRef suffix) {
    module->setAttr(kSuffix, mlir::StringAttr::get(&context, suffix));
  }

  static std::string takeSuffix(mlir::ModuleOp module) {
    auto suffix =
        dyn_cast_or_null<mlir::StringAttr>(module->removeAttr(kSuffix));
    return suffix ? suffix.getValue().str() : "";
  }

  void record(mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
      return;
    raw_string_ostream os(diagnostics);
    os << (diagnostics.empty() ? "" : "; ");
    if (!isa<mlir::UnknownLoc>(diagnostic.getLocation()))
      os << diagnostic.getLocation() << ": ";
    os << diagnostic;
  }

  static std::string print(mlir::ModuleOp module) {
    std::string text;
    raw_string_ostream os(text);
    module.print(os, mlir::OpPrintingFlags().enableDebugInfo(
                         /*enable=*/true, /*prettyForm=*/false));
    return text;
  }

  const KernelCompileOptions &options;
  mlir::MLIRContext context;
  std::string diagnostics;
};

/// Calls `task(worker, i)` for each i below `count`, on up to `threads` threads
/// of which the caller's is one. Threads and contexts are made only when a task
/// needs them.
void forEach(size_t count, unsigned threads,
             const KernelCompileOptions &options,
             function_ref<void(std::optional<Worker> &, size_t)> task) {
  std::atomic<size_t> next{0};
  auto work = [&] {
    std::optional<Worker> worker;
    for (size_t i = next++; i < count; i = next++)
      task(worker, i);
  };
  std::vector<std::thread> others;
  try {
    for (size_t t = 1; t < std::min<size_t>(threads, count); ++t)
      others.emplace_back(work);
  } catch (const std::system_error &) {
    // The system has no more threads: those that there are do the work.
  }
  work();
  for (std::thread &thread : others)
    thread.join();
}

/// One distinct key among the jobs.
struct Task {
  const KernelJob *job;
  std::string cacheKey;
  std::string error;
  KernelObject object;
  std::shared_ptr<const CompiledObject> loaded;
  KernelBitcode bitcode;
};

/// What is wanted of each task.
enum class Product { Loaded, Object, Bitcode };

class Compilation {
public:
  Compilation(ArrayRef<KernelJob> jobs, const KernelCompileOptions &options)
      : options(options),
        cache(options.cache ? *options.cache : ObjectCache::instance()) {
    StringMap<size_t> known;
    for (const KernelJob &job : jobs) {
      std::string key = ObjectCache::keyFor(job.key, options.target);
      auto [it, isNew] = known.try_emplace(key, tasks.size());
      if (isNew)
        tasks.push_back({&job, key, {}, {}, {}, {}});
      taskOfJob.push_back(it->second);
    }
  }

  /// Fills in what is wanted of each task.
  Error run(Product product) {
    std::vector<Task *> missing;
    for (Task &task : tasks) {
      if (product == Product::Loaded && !options.dump)
        task.loaded = cache.find(task.cacheKey);
      if (!task.loaded)
        missing.push_back(&task);
    }
    forEach(missing.size(), options.threads, options,
            [&](std::optional<Worker> &worker, size_t i) {
              Task &task = *missing[i];
              if (Error error = obtain(worker, task, product))
                task.error = toString(std::move(error));
            });
    std::string errors;
    for (Task *task : missing)
      if (!task->error.empty())
        errors += (errors.empty() ? "" : "\n") + task->error;
    return errors.empty() ? Error::success() : textError(errors);
  }

  const KernelCompileOptions &options;
  std::vector<Task> tasks;
  std::vector<size_t> taskOfJob;

private:
  Error obtain(std::optional<Worker> &worker, Task &task, Product product) {
    if (product == Product::Bitcode)
      return obtainBitcode(worker, task);
    if (Error error = obtainObject(worker, task))
      return error;
    if (product == Product::Loaded)
      return load(task);
    if (!options.lowering->assemble || !options.machineCode)
      return Error::success();
    Expected<std::string> code =
        options.lowering->assemble(task.object.bytes, options.target, cache);
    if (!code)
      return code.takeError();
    task.object.machineCode = std::move(*code);
    return Error::success();
  }

  Error obtainObject(std::optional<Worker> &worker, Task &task) {
    if (!options.dump)
      if (std::optional<std::string> bytes = cache.get(kKind, task.cacheKey))
        if (std::optional<KernelObject> object = decode(*bytes)) {
          task.object = std::move(*object);
          return Error::success();
        }
    if (!worker)
      worker.emplace(options);
    Expected<KernelObject> object = worker->compile(
        *task.job, task.cacheKey, [&](DumpStage stage, StringRef text) {
          std::lock_guard<std::mutex> lock(dumpMutex);
          options.dump(*task.job, stage, text);
        });
    if (!object)
      return object.takeError();
    task.object = std::move(*object);
    cache.put(kKind, task.cacheKey, encode(task.object));
    return Error::success();
  }

  Error obtainBitcode(std::optional<Worker> &worker, Task &task) {
    if (!worker)
      worker.emplace(options);
    Expected<KernelBitcode> bitcode =
        worker->compileToBitcode(*task.job, task.cacheKey);
    if (!bitcode)
      return bitcode.takeError();
    task.bitcode = std::move(*bitcode);
    return Error::success();
  }

  Error load(Task &task) {
    Expected<std::shared_ptr<LoadedObject>> code =
        loadObject(task.object.bytes, task.cacheKey);
    if (!code)
      return code.takeError();
    auto loaded = std::make_shared<CompiledObject>();
    loaded->launches = std::move(task.object.launches);
    loaded->code = std::move(*code);
    task.loaded = std::move(loaded);
    cache.insert(task.cacheKey, task.loaded);
    return Error::success();
  }

  ObjectCache &cache;
  std::mutex dumpMutex;
};

} // namespace

const KernelLowering cpuLowering = {registerCodeGenDialects, lowerKernelModule};

std::string symbolSuffix(const KernelJob &job, const TargetInfo &target) {
  return suffixOfKey(ObjectCache::keyFor(job.key, target));
}

Expected<std::vector<std::shared_ptr<const CompiledObject>>>
compileKernels(ArrayRef<KernelJob> jobs, const KernelCompileOptions &options) {
  Compilation compilation(jobs, options);
  if (Error error = compilation.run(Product::Loaded))
    return std::move(error);
  std::vector<std::shared_ptr<const CompiledObject>> kernels;
  for (size_t task : compilation.taskOfJob)
    kernels.push_back(compilation.tasks[task].loaded);
  return kernels;
}

Expected<std::vector<KernelObject>>
compileKernelObjects(ArrayRef<KernelJob> jobs,
                     const KernelCompileOptions &options) {
  Compilation compilation(jobs, options);
  if (Error error = compilation.run(Product::Object))
    return std::move(error);
  std::vector<KernelObject> objects;
  for (size_t task : compilation.taskOfJob)
    objects.push_back(compilation.tasks[task].object);
  return objects;
}

Expected<std::vector<KernelBitcode>>
compileKernelBitcode(ArrayRef<KernelJob> jobs,
                     const KernelCompileOptions &options) {
  Compilation compilation(jobs, options);
  if (Error error = compilation.run(Product::Bitcode))
    return std::move(error);
  std::vector<KernelBitcode> kernels;
  for (size_t task : compilation.taskOfJob)
    kernels.push_back(compilation.tasks[task].bitcode);
  return kernels;
}

Expected<IRModule> lowerLoops(MemoryBufferRef text,
                              const KernelCompileOptions &options) {
  return Worker(options).lowerText(text);
}

} // namespace tessera::lowering
