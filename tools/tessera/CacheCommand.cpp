// tessera cache: the folder of compiled code.
#include "lowering/CodeGen/ObjectCache.h"
#include "tools/tessera/Options.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera::lowering;

namespace tessera::tool {

int runCache(const Arguments &arguments) {
  arguments.noFile();
  ObjectCache &cache = ObjectCache::instance();
  if (cache.folder().empty()) {
    if (arguments.has(OPT_json))
      outs() << json::Value(json::Object{{"folder", nullptr}}) << "\n";
    else
      outs() << "no cache: TESSERA_CACHE switches it off\n";
    return kOk;
  }
  if (arguments.has(OPT_clear))
    cache.clear();
  CacheUsage usage = cache.usage();
  if (arguments.has(OPT_json))
    outs() << json::Value(json::Object{{"folder", cache.folder()},
                                       {"files", usage.files},
                                       {"bytes", usage.bytes}})
           << "\n";
  else
    outs() << cache.folder() << ": " << usage.files << " files, " << usage.bytes
           << " bytes\n";
  return kOk;
}

} // namespace tessera::tool
