// Work in a process of its own, so that a crash is a result like any other.
#ifndef TESSERA_TEST_FUZZ_ISOLATE_H
#define TESSERA_TEST_FUZZ_ISOLATE_H

#include <functional>
#include <string>

namespace tessera::fuzz {

/// What `work` returns; or how its process ended, where it crashes or takes
/// longer than `seconds`. What it prints is dropped. The caller must have
/// started no thread.
std::string isolated(const std::function<std::string()> &work,
                     unsigned seconds);

} // namespace tessera::fuzz

#endif
