// Reading of the environment variables TESSERA_*.
#include "runtime/Environment.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <unistd.h>

namespace tessera::runtime {

namespace {

constexpr std::string_view kPrefix = "TESSERA_";
constexpr std::string_view kNames[] = {
#define X(id, name, help) name,
    TESSERA_VARIABLES(X)
#undef X
};

// Read by the project's scripts, from which programs may inherit them.
constexpr std::string_view kScriptNames[] = {"JOBS", "PEERS", "TEST_ALL"};

bool isKnown(std::string_view key) {
  return std::ranges::count(kNames, key) ||
         std::ranges::count(kScriptNames, key);
}

[[noreturn]] void fail(Variable variable, const std::string &value,
                       const std::string &expected) {
  throw std::invalid_argument(nameOf(variable) + "=" + value + ": expected " +
                              expected);
}

} // namespace

std::string nameOf(Variable variable) {
  return std::string(kPrefix) + std::string(kNames[size_t(variable)]);
}

std::optional<std::string> readVariable(Variable variable) {
  checkEnvironment();
  const char *value = std::getenv(nameOf(variable).c_str());
  if (!value || !*value)
    return std::nullopt;
  return std::string(value);
}

std::optional<int64_t> readInteger(Variable variable, int64_t min,
                                   int64_t max) {
  std::optional<std::string> text = readVariable(variable);
  if (!text)
    return std::nullopt;
  int64_t value = 0;
  const char *end = text->data() + text->size();
  auto [stop, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || stop != end || value < min || value > max)
    fail(variable, *text,
         "a whole number from " + std::to_string(min) + " to " +
             std::to_string(max));
  return value;
}

std::optional<bool> readFlag(Variable variable) {
  std::optional<std::string> text = readVariable(variable);
  if (!text)
    return std::nullopt;
  for (const char *yes : {"1", "on", "true", "yes"})
    if (*text == yes)
      return true;
  for (const char *no : {"0", "off", "false", "no"})
    if (*text == no)
      return false;
  fail(variable, *text, "0 or 1");
}

std::vector<std::string> unknownVariables(const char *const *environment) {
  std::vector<std::string> unknown;
  for (; environment && *environment; ++environment) {
    std::string_view entry = *environment;
    if (!entry.starts_with(kPrefix))
      continue;
    std::string_view name = entry.substr(0, entry.find('='));
    std::string_view key = name.substr(kPrefix.size());
    if (!isKnown(key))
      unknown.emplace_back(name);
  }
  return unknown;
}

void checkEnvironment() {
  static std::once_flag once;
  std::call_once(once, [] {
    std::vector<std::string> unknown = unknownVariables(environ);
    if (unknown.empty())
      return;
    std::string known;
    for (std::string_view name : kNames)
      known += " " + std::string(kPrefix) + std::string(name);
    for (const std::string &name : unknown)
      std::fprintf(stderr,
                   "tessera: warning: unknown environment variable %s; "
                   "known are%s\n",
                   name.c_str(), known.c_str());
  });
}

} // namespace tessera::runtime
