// The tessera_host that compiled code gets in this process.
#pragma once

#include "runtime/HostAbi.h"

namespace tessera::runtime {

// A host whose parallel_for uses the thread pool with `threads` threads (0: the
// default, as it is now). It lives as long as the process.
const tessera_host *hostFor(int threads = 0);

} // namespace tessera::runtime
