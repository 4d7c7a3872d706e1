// What variables hold, and what a scope knows of them.
#pragma once

#include "tessera/Variable.h"

#include <map>
#include <mutex>

namespace tessera::detail {

struct Cell {
  Tensor load() {
    std::lock_guard guard(mutex);
    return value;
  }
  void store(Tensor next) {
    std::lock_guard guard(mutex);
    std::swap(value, next);
  }

private:
  std::mutex mutex;
  Tensor value;
};

/// The value as a variable holds it: without history.
Tensor stripHistory(const Tensor &value);

struct CellScope::State {
  struct Entry {
    std::shared_ptr<Cell> cell;
    Tensor value;
    bool written;
  };
  State *outer = nullptr;
  std::map<Cell *, Entry> values;
  /// Set where a program is traced: stands a hidden input for a cell that is
  /// read for the first time.
  std::function<Tensor(const std::shared_ptr<Cell> &)> capture;
};

} // namespace tessera::detail
