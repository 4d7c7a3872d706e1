// tessera devices: where programs can be computed.
#include "lowering/CodeGen/GpuTarget.h"
#include "runtime/cuda/Allocator.h"
#include "tools/tessera/Options.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <thread>

using namespace llvm;
using namespace tessera::lowering;

namespace tessera::tool {

namespace {
/// A GPU, or why it cannot be used.
struct GpuLine {
  std::string name, why;
  runtime::cuda::GpuInfo info;
};
} // namespace

/// Every GPU; without a driver, one line that says why there is none.
static std::vector<GpuLine> gpus() {
  std::vector<GpuLine> lines;
  auto add = [&](const std::string &name, auto read) {
    try {
      read();
    } catch (const runtime::cuda::DeviceError &error) {
      lines.push_back({name, error.what(), {}});
    } catch (const runtime::OutOfMemoryError &error) {
      lines.push_back({name, error.what(), {}});
    }
  };
  add("cuda", [&] {
    int count = runtime::cuda::Gpu::count();
    for (int i = 0; i < count; ++i) {
      std::string name = "cuda:" + std::to_string(i);
      add(name, [&] {
        lines.push_back({name, "", runtime::cuda::Gpu::at(i).info()});
      });
    }
    if (count == 0)
      lines.push_back({"cuda", "the CUDA driver finds no GPU", {}});
  });
  return lines;
}

static json::Object jsonOf(const GpuLine &gpu) {
  if (!gpu.why.empty())
    return json::Object{{"name", gpu.name}, {"error", gpu.why}};
  return json::Object{{"name", gpu.name},
                      {"gpu", gpu.info.name},
                      {"arch", gpu.info.arch},
                      {"memory", int64_t(gpu.info.memoryBytes)},
                      {"multiprocessors", gpu.info.multiprocessors}};
}

static std::string describe(const runtime::cuda::GpuInfo &info) {
  return info.name + ", " + info.arch + ", " +
         std::to_string(info.memoryBytes >> 20) + " MiB, " +
         std::to_string(info.multiprocessors) + " multiprocessors";
}

int runDevices(const Arguments &arguments) {
  arguments.noFile();
  Expected<TargetInfo> host = hostTargetOrError();
  if (!host)
    fail(host.takeError());
  unsigned threads = std::thread::hardware_concurrency();
  if (arguments.has(OPT_json)) {
    json::Object cpu{{"name", "cpu"},
                     {"cpu", host->cpu},
                     {"triple", host->triple},
                     {"vector_bits", host->vectorBits},
                     {"threads", int64_t(threads)},
                     {"l1", host->l1},
                     {"l2", host->l2},
                     {"l3", host->l3}};
    json::Array emulated;
    for (const GpuTarget &gpu : gpuTargets())
      emulated.push_back(gpu.name);
    json::Array devices{
        std::move(cpu), json::Object{{"name", "reference"}},
        json::Object{{"name", "sim"}, {"architectures", std::move(emulated)}}};
    for (const GpuLine &gpu : gpus())
      devices.push_back(jsonOf(gpu));
    outs() << json::Value(std::move(devices)) << "\n";
    return kOk;
  }
  outs() << "cpu        " << host->cpu << ", " << threads << " threads, "
         << host->vectorBits << "-bit vectors" << (host->hasFMA ? ", FMA" : "")
         << ", caches of " << (host->l1 >> 10) << " KiB, " << (host->l2 >> 10)
         << " KiB and " << (host->l3 >> 20)
         << " MiB\nreference  the interpreter: slow, for comparison\n"
            "sim:ARCH   a GPU that is emulated: ARCH is "
         << llvm::join(map_range(gpuTargets(),
                                 [](const GpuTarget &gpu) {
                                   return StringRef(gpu.name);
                                 }),
                       ", ")
         << "\n";
  for (const GpuLine &gpu : gpus())
    outs() << left_justify(gpu.name, 11)
           << (gpu.why.empty() ? describe(gpu.info) : "none: " + gpu.why)
           << "\n";
  return kOk;
}

} // namespace tessera::tool
