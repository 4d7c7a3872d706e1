// Counters as text.
#include "runtime/sim/Counters.h"

namespace tessera::runtime::sim {

std::string Counters::describe() const {
  std::string text;
  auto line = [&](uint64_t value, const char *help) {
    if (value)
      text += std::to_string(value) + " " + help + "\n";
  };
#define X(name, help) line(name, help);
  TESSERA_SIM_COUNTERS(X)
#undef X
  return text;
}

std::string Counters::json() const {
  std::string text;
  auto add = [&](const char *what, uint64_t value) {
    if (value)
      text += (text.empty() ? "\"" : ",\"") + std::string(what) +
              "\":" + std::to_string(value);
  };
#define X(name, help) add(#name, name);
  TESSERA_SIM_COUNTERS(X)
#undef X
  return "{" + text + "}";
}

} // namespace tessera::runtime::sim
