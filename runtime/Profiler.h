// TESSERA_PROFILE=FILE: a Chrome trace of the calls of executables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::runtime {

// Whether calls are recorded. The file is written when the process exits, and
// shows in chrome://tracing or Perfetto.
bool isProfiling();

// Nanoseconds of the clock that events are in.
int64_t profileClock();

// Adds one event of this thread. `details`, if not empty, is a JSON object that
// viewers show with it.
void recordEvent(std::string_view name, int64_t start, int64_t end,
                 std::string details = {});

// The events so far as Chrome trace JSON.
std::string profileAsJson();

// Records its own lifetime. What `name` refers to must outlive it.
class ProfileScope {
public:
  explicit ProfileScope(std::string_view name)
      : name(name), start(isProfiling() ? profileClock() : kOff) {}
  ~ProfileScope() {
    if (start != kOff) [[unlikely]]
      recordEvent(name, start, profileClock());
  }
  ProfileScope(const ProfileScope &) = delete;
  ProfileScope &operator=(const ProfileScope &) = delete;

private:
  static constexpr int64_t kOff = -1;
  const std::string_view name;
  const int64_t start;
};

} // namespace tessera::runtime
