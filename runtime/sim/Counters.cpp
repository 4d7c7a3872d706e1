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

} // namespace tessera::runtime::sim
