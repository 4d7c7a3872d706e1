// What is in force on a thread for a while: no history, and the user's place.
#pragma once

#include <source_location>

namespace tessera {

/// As long as one lives, ops recorded on its thread keep no history: no
/// derivative passes through them.
class NoGrad {
public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad &) = delete;
};

namespace detail {
/// As long as one lives, errors on its thread show the user's `place`, and ops
/// carry it beside their own. An enclosing scope takes precedence.
class LocationScope {
public:
  explicit LocationScope(std::source_location place);
  ~LocationScope();
  LocationScope(const LocationScope &) = delete;

private:
  std::source_location place;
  bool outermost;
};
} // namespace detail

} // namespace tessera
