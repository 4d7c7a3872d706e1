// Parsing and printing of devices.
#include "runtime/Device.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace tessera::runtime {

namespace {

// All of `text` as a number from 0 to `max`, or -1.
int parseNumber(std::string_view text, int max) {
  int value = -1;
  const char *end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value);
  bool fits = error == std::errc() && stop == end && value >= 0 && value <= max;
  return fits && text[0] != '-' ? value : -1;
}

// sm_90, sm_90a, sm_100f.
bool isArchitecture(std::string_view text) {
  if (!text.starts_with("sm_"))
    return false;
  text.remove_prefix(3);
  if (text.ends_with('a') || text.ends_with('f'))
    text.remove_suffix(1);
  return parseNumber(text, 9999) >= 10;
}

} // namespace

Device::Device(std::string_view text) {
  std::string_view name = text.substr(0, text.find(':'));
  bool hasDetail = name.size() < text.size();
  std::string_view detail = hasDetail ? text.substr(name.size() + 1) : "";
  if (name == "cpu" && !hasDetail)
    return;
  if (name == "reference" && !hasDetail) {
    theKind = DeviceKind::Reference;
    return;
  }
  if (name == "sim" && isArchitecture(detail) && detail.size() < arch.size()) {
    theKind = DeviceKind::Sim;
    std::copy(detail.begin(), detail.end(), arch.begin());
    return;
  }
  if (int ordinal = parseNumber(detail, 1023); name == "cuda" && ordinal >= 0) {
    theKind = DeviceKind::Cuda;
    theOrdinal = int16_t(ordinal);
    return;
  }
  throw std::invalid_argument(
      "unknown device \"" + std::string(text) +
      "\": expected \"cpu\", \"reference\", \"sim:sm_90\" or \"cuda:0\"");
}

std::string Device::str() const {
  switch (theKind) {
  case DeviceKind::Cpu:
    return "cpu";
  case DeviceKind::Reference:
    return "reference";
  case DeviceKind::Sim:
    return "sim:" + std::string(architecture());
  case DeviceKind::Cuda:
    return "cuda:" + std::to_string(theOrdinal);
  }
  return {};
}

} // namespace tessera::runtime
