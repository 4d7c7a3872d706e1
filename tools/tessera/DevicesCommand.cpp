// tessera devices: where programs can be computed.
#include "lowering/CodeGen/GpuTarget.h"
#include "tools/tessera/Options.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <thread>

using namespace llvm;
using namespace tessera::lowering;

namespace tessera::tool {

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
    json::Array gpus;
    for (const GpuTarget &gpu : gpuTargets())
      gpus.push_back(gpu.name);
    outs() << json::Value(json::Array{
                  std::move(cpu), json::Object{{"name", "reference"}},
                  json::Object{{"name", "sim"},
                               {"architectures", std::move(gpus)}}})
           << "\n";
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
  return kOk;
}

} // namespace tessera::tool
