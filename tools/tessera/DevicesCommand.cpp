// tessera devices: where programs can be computed.
#include "lowering/CodeGen/Target.h"
#include "tools/tessera/Options.h"
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
    outs() << json::Value(json::Array{std::move(cpu),
                                      json::Object{{"name", "reference"}}})
           << "\n";
    return kOk;
  }
  outs() << "cpu        " << host->cpu << ", " << threads << " threads, "
         << host->vectorBits << "-bit vectors" << (host->hasFMA ? ", FMA" : "")
         << ", caches of " << (host->l1 >> 10) << " KiB, " << (host->l2 >> 10)
         << " KiB and " << (host->l3 >> 20)
         << " MiB\nreference  the interpreter: slow, for comparison\n";
  return kOk;
}

} // namespace tessera::tool
