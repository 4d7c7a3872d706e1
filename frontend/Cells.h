// What variables hold, and what a scope knows of them.
#pragma once

#include "runtime/Storage.h"
#include "tessera/Variable.h"

#include <map>
#include <mutex>

namespace tessera::detail {

/// While a program overwrites the bytes of a cell, they are lent to it: whoever
/// reads or writes the cell meanwhile waits. A thread that has borrowed waits
/// for cells of higher addresses only, so that none wait for each other.
class Cell {
public:
  Tensor load() {
    std::unique_lock guard = whenHere();
    return value;
  }
  void store(Tensor next) {
    std::unique_lock guard = whenHere();
    std::swap(value, next);
    guard.unlock(); // what was there is destroyed after
  }

  /// Takes the bytes out if the value is of this type and nobody else can see
  /// it; until `settle` they are lent. Else gives nothing, and the value.
  runtime::Storage borrow(DType dtype, const Shape &shape, Tensor &shared);
  /// Ends a loan, with a new value, or with the bytes of the old one.
  void settle(Tensor next);
  void settle(runtime::Storage bytes);

  /// What exported programs call the cell: the longest name that it was given,
  /// since a module's path for it ends in the path of the module below.
  std::string name();
  void giveName(const std::string &other);

private:
  std::unique_lock<std::mutex> whenHere();
  void endLoan(std::unique_lock<std::mutex> guard);

  std::mutex mutex;
  std::atomic<bool> isLent{false};
  Tensor value;
  std::string theName;
};

/// The value as a variable holds it: without history.
Tensor stripHistory(const Tensor &value);

struct CellScope::State {
  struct Entry {
    std::shared_ptr<Cell> cell;
    Tensor value;
    bool written;
    size_t order; ///< of the cells, as they were come to
  };
  void set(const std::shared_ptr<Cell> &cell, const Tensor &value,
           bool written);

  State *outer = nullptr;
  std::map<Cell *, Entry> values;
  /// Set where a program is traced: stands a hidden input for a cell that is
  /// read for the first time.
  std::function<Tensor(const std::shared_ptr<Cell> &)> capture;
};

} // namespace tessera::detail
