// Collects events and writes them at exit.
#include "runtime/Profiler.h"

#include "runtime/Environment.h"
#include "runtime/FileUtils.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <unistd.h>
#include <unordered_set>
#include <vector>

namespace tessera::runtime {

namespace {

struct Event {
  const std::string *name;
  int64_t start, end;
  int thread;
  std::string details;
};

// Bounds the memory: about 32 MiB of events.
constexpr size_t kMaxEvents = size_t(1) << 20;

struct Profile {
  std::string path;
  const pid_t process = getpid();
  std::mutex mutex;
  std::unordered_set<std::string> names; // executables may end before exit
  std::vector<Event> events;
  uint64_t dropped = 0;
};

void writeAtExit();

// Made at first use, never destroyed.
Profile &profile() {
  static Profile *instance = [] {
    auto *made = new Profile;
    made->path = readVariable(Variable::Profile).value_or("");
    if (!made->path.empty())
      std::atexit(writeAtExit);
    return made;
  }();
  return *instance;
}

void writeAtExit() {
  Profile &p = profile();
  if (getpid() != p.process)
    return; // the child of a fork does not overwrite its parent's file
  try {
    writeFileAtomic(p.path, profileAsJson());
  } catch (const std::exception &error) {
    std::fprintf(stderr, "tessera: TESSERA_PROFILE: %s\n", error.what());
  }
}

std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (unsigned char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += char(c);
    } else if (c < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      result += escape;
    } else {
      result += char(c);
    }
  }
  return result + '"';
}

int threadNumber() {
  static std::atomic<int> count{0};
  thread_local const int number = ++count;
  return number;
}

} // namespace

bool isProfiling() {
  static const bool on = !profile().path.empty();
  return on;
}

int64_t profileClock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void recordEvent(std::string_view name, int64_t start, int64_t end,
                 std::string details) {
  Profile &p = profile();
  int thread = threadNumber();
  std::lock_guard guard(p.mutex);
  if (p.events.size() >= kMaxEvents) {
    ++p.dropped;
    return;
  }
  const std::string *kept = &*p.names.emplace(name).first;
  p.events.push_back({kept, start, end, thread, std::move(details)});
}

std::string profileAsJson() {
  Profile &p = profile();
  std::lock_guard guard(p.mutex);
  std::string json = "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"dropped\":" +
                     std::to_string(p.dropped) + "},\"traceEvents\":[";
  const char *separator = "\n";
  for (const Event &event : p.events) {
    char numbers[128];
    std::snprintf(numbers, sizeof numbers,
                  ",\"ph\":\"X\",\"ts\":%.3f,\"dur\":%.3f,\"pid\":%d,"
                  "\"tid\":%d",
                  double(event.start) / 1e3,
                  double(event.end - event.start) / 1e3, int(p.process),
                  event.thread);
    json += separator;
    json += "{\"name\":" + quoted(*event.name) + numbers;
    if (!event.details.empty())
      json += ",\"args\":" + event.details;
    json += "}";
    separator = ",\n";
  }
  return json + "\n]}\n";
}

} // namespace tessera::runtime
